ALTER TABLE domains
  ADD COLUMN placeholder text,
  ADD COLUMN expired_url text,
  ADD COLUMN not_found_url text,
  ADD COLUMN logo text,
  ADD COLUMN asset_links text,
  ADD COLUMN apple_app_site_association text,
  -- When DNS is asked next, and what it said last time.
  ADD COLUMN check_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN checks integer NOT NULL DEFAULT 0,
  ADD COLUMN check_result text;
CREATE INDEX domains_to_check ON domains (check_at) WHERE NOT verified;

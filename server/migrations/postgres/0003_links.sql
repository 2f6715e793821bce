-- `number` is the compact name of a link inside the system: in the log, in ClickHouse and in click ids.
-- `lookup_key` is the key as it is matched: without regard to case.
CREATE TABLE links (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  domain text NOT NULL,
  key text NOT NULL,
  lookup_key text NOT NULL,
  url text NOT NULL,
  track_conversion boolean NOT NULL DEFAULT false,
  external_id text,
  tenant_id text,
  program_id text,
  partner_id text,
  archived boolean NOT NULL DEFAULT false,
  expires_at timestamptz,
  expired_url text,
  disabled_at timestamptz,
  proxy boolean NOT NULL DEFAULT false,
  title text,
  description text,
  image text,
  video text,
  rewrite boolean NOT NULL DEFAULT false,
  do_index boolean NOT NULL DEFAULT false,
  ios text,
  android text,
  geo jsonb,
  public_stats boolean NOT NULL DEFAULT false,
  folder_id text,
  comments text,
  utm_source text,
  utm_medium text,
  utm_campaign text,
  utm_term text,
  utm_content text,
  test_variants jsonb,
  test_started_at timestamptz,
  test_completed_at timestamptz,
  user_id text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT links_domain_key UNIQUE (domain, lookup_key),
  CONSTRAINT links_external_id UNIQUE (workspace_id, external_id)
);
CREATE INDEX links_workspace_created ON links (workspace_id, created_at DESC, number DESC);

-- Apart from the link, because these rows change with every batch of events and links do not.
CREATE TABLE link_counters (
  link_number bigint PRIMARY KEY REFERENCES links (number) ON DELETE CASCADE,
  workspace_id text NOT NULL,
  clicks bigint NOT NULL DEFAULT 0,
  leads bigint NOT NULL DEFAULT 0,
  conversions bigint NOT NULL DEFAULT 0,
  sales bigint NOT NULL DEFAULT 0,
  sale_amount bigint NOT NULL DEFAULT 0,
  last_clicked timestamptz
) WITH (fillfactor = 70);

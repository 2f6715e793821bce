-- When a verified domain is checked again. The default gives a new domain an hour to get its records and certificate.
ALTER TABLE domains ADD COLUMN watch_at timestamptz NOT NULL DEFAULT now() + interval '1 hour';
CREATE INDEX domains_watch ON domains (watch_at) WHERE verified AND NOT archived;

-- Whether visitors reach a verified domain: only one that worked before can be broken.
CREATE TABLE domain_watches (
  domain_id text PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- The name that was checked; a renamed domain begins anew.
  slug text NOT NULL,
  worked_at timestamptz,
  failures integer NOT NULL DEFAULT 0,
  failing_since timestamptz,
  broken_since timestamptz,
  problem text
);
CREATE INDEX domain_watches_workspace ON domain_watches (workspace_id);

-- How many warnings about the end of a key were queued: none, the one a week before, the one a day before.
ALTER TABLE tokens ADD COLUMN expiry_warnings smallint NOT NULL DEFAULT 0;
CREATE INDEX tokens_expiring ON tokens (expires_at)
  WHERE revoked_at IS NULL AND replaced_by IS NULL AND expires_at IS NOT NULL AND expiry_warnings < 2;

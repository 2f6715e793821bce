-- What the last lookup found in DNS and of the certificate, for the screen of a domain.
CREATE TABLE domain_findings (
  domain_id text PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  slug text NOT NULL,
  findings jsonb NOT NULL,
  checked_at timestamptz NOT NULL
);
CREATE INDEX domain_findings_workspace ON domain_findings (workspace_id);

-- Public pages that show the DNS records of a domain to whoever has the link.
CREATE TABLE domain_setup_pages (
  domain_id text PRIMARY KEY REFERENCES domains (id) ON DELETE CASCADE,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- SHA-256 of the secret in the link.
  hash bytea NOT NULL UNIQUE,
  expires_at timestamptz NOT NULL
);
CREATE INDEX domain_setup_pages_workspace ON domain_setup_pages (workspace_id);

CREATE TABLE domains (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  slug text NOT NULL UNIQUE,
  verified boolean NOT NULL DEFAULT false,
  is_primary boolean NOT NULL DEFAULT false,
  archived boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX domains_workspace ON domains (workspace_id, created_at);
CREATE UNIQUE INDEX domains_one_primary ON domains (workspace_id) WHERE is_primary;

CREATE TABLE workspaces (
  id text PRIMARY KEY,
  name text NOT NULL,
  slug text NOT NULL UNIQUE,
  plan text NOT NULL CHECK (plan IN ('free', 'pro', 'business', 'advanced', 'enterprise')),
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tokens (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name text NOT NULL,
  hash bytea NOT NULL UNIQUE,
  prefix text NOT NULL,
  last_four text NOT NULL,
  scopes text[] NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX tokens_workspace ON tokens (workspace_id, created_at);

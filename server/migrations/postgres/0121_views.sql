-- What a member chose in the dashboard of a workspace.
CREATE TABLE preferences (
  workspace_id text NOT NULL,
  user_id text NOT NULL,
  value jsonb NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, user_id),
  FOREIGN KEY (workspace_id, user_id) REFERENCES members ON DELETE CASCADE
);

CREATE TABLE views (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- The member who alone sees a personal view; null for a shared one, which outlives its creator's membership.
  owner_id text,
  created_by text REFERENCES users (id) ON DELETE SET NULL,
  screen text NOT NULL CHECK (screen IN ('links', 'analytics', 'events')),
  name text NOT NULL,
  query jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (workspace_id, owner_id) REFERENCES members (workspace_id, user_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX views_name ON views (workspace_id, screen, coalesce(owner_id, ''), lower(name));
CREATE INDEX views_owner ON views (workspace_id, owner_id) WHERE owner_id IS NOT NULL;

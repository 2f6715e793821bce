CREATE TABLE members (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer', 'billing')),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX members_user ON members (user_id);

-- A member's access to one folder, instead of the folder's access level.
CREATE TABLE member_folders (
  workspace_id text NOT NULL,
  user_id text NOT NULL,
  folder_id text NOT NULL,
  access text NOT NULL CHECK (access IN ('none', 'read', 'write')),
  PRIMARY KEY (workspace_id, user_id, folder_id),
  FOREIGN KEY (workspace_id, user_id) REFERENCES members ON DELETE CASCADE
);
CREATE INDEX member_folders_folder ON member_folders (workspace_id, folder_id);

CREATE TABLE invites (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  email text NOT NULL CHECK (email = lower(email) AND length(email) <= 254),
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer', 'billing')),
  -- SHA-256 of the secret in the invite link.
  hash bytea NOT NULL UNIQUE,
  invited_by text REFERENCES users (id) ON DELETE SET NULL,
  expires_at timestamptz NOT NULL,
  accepted_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX invites_pending ON invites (workspace_id, email) WHERE accepted_at IS NULL;
CREATE INDEX invites_workspace ON invites (workspace_id, created_at);

-- A personal key has an owner and ends with the owner's membership; a machine key has none.
ALTER TABLE tokens
  ADD COLUMN user_id text REFERENCES users (id) ON DELETE CASCADE,
  ADD COLUMN created_by text REFERENCES users (id) ON DELETE SET NULL,
  ADD COLUMN last_used_from text,
  ADD COLUMN replaced_by text,
  ADD COLUMN allowed_hostnames text[];
CREATE INDEX tokens_user ON tokens (workspace_id, user_id) WHERE user_id IS NOT NULL;

ALTER TABLE workspaces
  ADD COLUMN logo text,
  ADD COLUMN default_domain text,
  ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC',
  ADD COLUMN week_start smallint NOT NULL DEFAULT 1 CHECK (week_start BETWEEN 0 AND 6),
  -- Set when an owner deletes the workspace; a job then erases its data.
  ADD COLUMN deleted_at timestamptz;

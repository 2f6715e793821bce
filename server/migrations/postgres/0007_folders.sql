CREATE TABLE folders (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name text NOT NULL,
  description text,
  type text NOT NULL DEFAULT 'default' CHECK (type IN ('default', 'mega')),
  access_level text CHECK (access_level IN ('write', 'read')),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX folders_name ON folders (workspace_id, lower(name));

ALTER TABLE links ADD CONSTRAINT links_folder FOREIGN KEY (folder_id) REFERENCES folders (id) ON DELETE SET NULL;
CREATE INDEX links_folder ON links (folder_id) WHERE folder_id IS NOT NULL;

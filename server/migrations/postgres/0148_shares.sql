-- Public pages with the statistics of one saved view, link or folder. Whoever knows the id can open the page.
CREATE TABLE shares (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  view_id text REFERENCES views (id) ON DELETE CASCADE,
  link_id text REFERENCES links (id) ON DELETE CASCADE,
  folder_id text REFERENCES folders (id) ON DELETE CASCADE,
  title text,
  sealed_password bytea,
  ends_at timestamptz,
  show_conversions boolean NOT NULL DEFAULT false,
  created_by text REFERENCES users (id) ON DELETE SET NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(view_id, link_id, folder_id) = 1)
);
CREATE INDEX shares_workspace ON shares (workspace_id, created_at DESC);
CREATE INDEX shares_view ON shares (view_id) WHERE view_id IS NOT NULL;
CREATE INDEX shares_link ON shares (link_id) WHERE link_id IS NOT NULL;
CREATE INDEX shares_folder ON shares (folder_id) WHERE folder_id IS NOT NULL;
CREATE INDEX shares_user ON shares (created_by) WHERE created_by IS NOT NULL;

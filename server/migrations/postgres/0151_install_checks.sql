-- Checks whether a page loads the script. Reports contain nothing about the visitor.
CREATE TABLE install_checks (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  url text NOT NULL,
  -- What the server found in the HTML of the page.
  page jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  -- The latest report of the page's script.
  reported_at timestamptz,
  host text,
  path text,
  version text,
  is_off boolean
);
CREATE INDEX install_checks_newest ON install_checks (workspace_id, created_at DESC);

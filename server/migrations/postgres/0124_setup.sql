-- When a web page last reported something with the script of a workspace.
CREATE TABLE page_reports (
  workspace_id text PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
  host text NOT NULL,
  reported_at timestamptz NOT NULL
);

-- Sample data is in a workspace of its own, so that its figures never mix with real ones.
CREATE TABLE sample_data (
  workspace_id text PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
  sample_workspace_id text NOT NULL UNIQUE,
  slug text NOT NULL,
  -- What is done: the workspace, its links, its clicks, everything.
  step text NOT NULL DEFAULT 'new' CHECK (step IN ('new', 'linked', 'sent', 'ready', 'deleted')),
  link_numbers bigint[] NOT NULL DEFAULT '{}',
  -- No other worker continues before this time.
  due_at timestamptz NOT NULL DEFAULT now(),
  step_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sample_data_due ON sample_data (due_at) WHERE step IN ('new', 'linked', 'sent');

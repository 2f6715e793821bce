-- Which folders have public statistics, and the passwords of those of links and folders. `subject_id` is the id of one.
-- Whether the statistics of a link are public is in the link itself (`links.public_stats`).
CREATE TABLE public_stats (
  subject_id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  enabled boolean NOT NULL,
  sealed_password bytea,
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX public_stats_workspace ON public_stats (workspace_id);

CREATE TABLE tags (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name text NOT NULL,
  color text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX tags_name ON tags (workspace_id, lower(name));

CREATE TABLE link_tags (
  link_number bigint NOT NULL REFERENCES links (number) ON DELETE CASCADE,
  tag_id text NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
  workspace_id text NOT NULL,
  position integer NOT NULL DEFAULT 0,
  PRIMARY KEY (link_number, tag_id)
);
CREATE INDEX link_tags_tag ON link_tags (tag_id, link_number);

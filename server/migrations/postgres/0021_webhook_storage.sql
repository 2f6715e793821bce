-- How many bytes the bodies of a workspace's stored webhook events have, so that a workspace can be limited.
CREATE TABLE webhook_storage (
  workspace_id text PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
  bytes bigint NOT NULL
);
INSERT INTO webhook_storage (workspace_id, bytes)
  SELECT workspace_id, sum(octet_length(body)) FROM webhook_events WHERE body IS NOT NULL GROUP BY workspace_id;

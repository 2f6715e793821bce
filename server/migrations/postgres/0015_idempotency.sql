-- What a write answered, so that a repeat with the same key gets the same. Kept for a day.
CREATE TABLE idempotency_keys (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  key text NOT NULL,
  request_hash bytea NOT NULL,
  status integer,
  response text,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

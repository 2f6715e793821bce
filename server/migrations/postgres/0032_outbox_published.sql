-- What the relay has published lately, for a log that comes back without it.
CREATE TABLE outbox_published (
  id bigint PRIMARY KEY,
  workspace_id text NOT NULL,
  subject text NOT NULL,
  body jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  traceparent text,
  published_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_published_age ON outbox_published (published_at);

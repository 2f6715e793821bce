CREATE TABLE webhooks (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name text NOT NULL,
  url text NOT NULL,
  triggers text[] NOT NULL,
  -- Of which links: all, those in `folder_ids`, or those that name it in their `webhook_ids`.
  scope text NOT NULL DEFAULT 'workspace' CHECK (scope IN ('workspace', 'folders', 'links')),
  folder_ids text[] NOT NULL DEFAULT '{}',
  sealed_secret bytea NOT NULL,
  -- Signs too until then.
  sealed_former_secret bytea,
  former_secret_until timestamptz,
  disabled_at timestamptz,
  disabled_reason text CHECK (disabled_reason IN ('asked', 'gone', 'failing')),
  -- Since when every call has failed; null after one that did not.
  failing_since timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- Then it is disabled too; the worker takes away its deliveries in small steps, and at last the row.
  deleted_at timestamptz
);
CREATE UNIQUE INDEX webhooks_url ON webhooks (workspace_id, url) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_deleted ON webhooks (deleted_at) WHERE deleted_at IS NOT NULL;

-- What a write has to know without a search: the triggers that some enabled webhook has, and the ids of all webhooks.
ALTER TABLE workspaces
  ADD COLUMN webhook_triggers text[] NOT NULL DEFAULT '{}',
  ADD COLUMN webhook_ids text[] NOT NULL DEFAULT '{}',
  ADD COLUMN contact_email text;

-- The links that name a webhook.
CREATE INDEX links_webhook_ids ON links USING gin (webhook_ids) WHERE webhook_ids <> '{}';

-- What is told, once for all receivers. The body is null when the person it tells of was erased.
CREATE TABLE webhook_events (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  id text NOT NULL,
  event text NOT NULL,
  customer_id text,
  body text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX webhook_events_age ON webhook_events (created_at);
CREATE INDEX webhook_events_customer ON webhook_events (workspace_id, customer_id) WHERE customer_id IS NOT NULL;

-- The queue and its log: an event on its way to one receiver. `due_at` is null when nothing is left to do.
CREATE TABLE webhook_deliveries (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id text NOT NULL,
  webhook_id text NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  event_id text NOT NULL,
  event text NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  -- From when on the schedule counts, and how many calls of it were made; a replay begins anew.
  started_at timestamptz NOT NULL,
  tries integer NOT NULL DEFAULT 0,
  due_at timestamptz,
  -- Of all calls ever, and of the last one.
  attempts integer NOT NULL DEFAULT 0,
  response_status integer,
  last_attempt_at timestamptz,
  created_at timestamptz NOT NULL,
  FOREIGN KEY (workspace_id, event_id) REFERENCES webhook_events (workspace_id, id) ON DELETE CASCADE,
  CONSTRAINT webhook_deliveries_once UNIQUE (workspace_id, webhook_id, event_id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (workspace_id, webhook_id, number DESC);
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (workspace_id, event_id);
CREATE INDEX webhook_deliveries_status ON webhook_deliveries (workspace_id, webhook_id, status, number DESC);

CREATE TABLE webhook_attempts (
  delivery_number bigint NOT NULL REFERENCES webhook_deliveries (number) ON DELETE CASCADE,
  number integer NOT NULL,
  workspace_id text NOT NULL,
  url text NOT NULL,
  at timestamptz NOT NULL,
  duration_ms integer NOT NULL,
  -- Null when there was no answer; then `problem` says why.
  response_status integer,
  response_excerpt text,
  problem text,
  PRIMARY KEY (delivery_number, number)
);

-- An event that can't be decided yet leaves the ready part of the queue until `retry_at`, so that it costs the events
-- behind it nothing. `waits_for` stays when the event is tried again, until it is decided.
ALTER TABLE commission_queue
  ADD COLUMN waits_for text,
  ADD COLUMN retry_at timestamptz,
  ADD COLUMN attempts smallint NOT NULL DEFAULT 0,
  -- Set while the event waits: later events of the customer wait behind it.
  ADD COLUMN customer_id text;
-- The engine takes the oldest events of one workspace after the other.
CREATE INDEX commission_queue_ready ON commission_queue (workspace_id, conversion_number) WHERE retry_at IS NULL;
CREATE INDEX commission_queue_retries ON commission_queue (retry_at) WHERE retry_at IS NOT NULL;
CREATE INDEX commission_queue_customer ON commission_queue (workspace_id, customer_id, conversion_number)
  WHERE waits_for IS NOT NULL;
DROP INDEX commission_queue_partner;
-- Decided events leave dead index entries at the front, where every look at the queue begins.
ALTER TABLE commission_queue SET (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0);

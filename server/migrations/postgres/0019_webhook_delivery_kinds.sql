-- outside a transaction
-- The deliveries of one kind of event, the newest first: without it a rare kind is looked for in all of them.
DROP INDEX CONCURRENTLY IF EXISTS webhook_deliveries_kind;
CREATE INDEX CONCURRENTLY webhook_deliveries_kind ON webhook_deliveries (workspace_id, webhook_id, event, number DESC);

-- outside a transaction
-- Finds the keys of a workspace's commissions, which are erased with it. New commissions have growing numbers, so the
-- index grows at its end.
DROP INDEX CONCURRENTLY IF EXISTS commission_keys_commission;
CREATE INDEX CONCURRENTLY commission_keys_commission ON commission_keys (commission_number);

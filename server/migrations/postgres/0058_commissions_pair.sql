-- outside a transaction
-- Finds the first commission of a customer and partner without reading all of theirs.
DROP INDEX CONCURRENTLY IF EXISTS commissions_pair;
CREATE INDEX CONCURRENTLY commissions_pair ON commissions (customer_id, partner_number, type, number)
  WHERE customer_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS commissions_customer;

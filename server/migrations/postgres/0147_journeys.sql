-- outside a transaction
-- Lists of customers of a country.
DROP INDEX CONCURRENTLY IF EXISTS customers_country;
CREATE INDEX CONCURRENTLY customers_country ON customers (workspace_id, country, number DESC) WHERE erased_at IS NULL;
-- Pages of a customer's leads, sales and refunds by time. Replaces `conversions_of_customer`.
DROP INDEX CONCURRENTLY IF EXISTS conversions_journey;
CREATE INDEX CONCURRENTLY conversions_journey ON conversions (workspace_id, customer_id, created_at, number);
DROP INDEX CONCURRENTLY IF EXISTS conversions_of_customer;

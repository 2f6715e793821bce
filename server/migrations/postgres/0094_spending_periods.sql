-- outside a transaction
-- Finds what was spent in past days, weeks and months. A limit in total counts from 1970.
DROP INDEX CONCURRENTLY IF EXISTS commission_spending_periods;
CREATE INDEX CONCURRENTLY commission_spending_periods ON commission_spending (period_start)
  WHERE period_start > '1970-01-01 00:00:00+00';

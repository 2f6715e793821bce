-- outside a transaction
-- The version before writes no `from_page`: for its sales the new index refuses what the old one did.
DROP INDEX CONCURRENTLY IF EXISTS conversions_invoices;
CREATE UNIQUE INDEX CONCURRENTLY conversions_invoices ON conversions (workspace_id, invoice_id, from_page)
  WHERE kind = 'sale' AND invoice_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS conversions_invoice;

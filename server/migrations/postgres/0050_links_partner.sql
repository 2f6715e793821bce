-- outside a transaction
DROP INDEX CONCURRENTLY IF EXISTS links_partner;
CREATE INDEX CONCURRENTLY links_partner ON links (workspace_id, partner_id, number)
  WHERE partner_id IS NOT NULL AND deleted_at IS NULL;

-- outside a transaction
-- Also has deleted links, because their customers and clicks still belong to the partner.
DROP INDEX CONCURRENTLY IF EXISTS links_of_partner;
CREATE INDEX CONCURRENTLY links_of_partner ON links (workspace_id, partner_id, number) WHERE partner_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS links_partner;

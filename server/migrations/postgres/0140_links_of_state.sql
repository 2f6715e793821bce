-- outside a transaction
-- Lists of links by state and by day of creation. `links_recent` replaces `links_newest`.
DROP INDEX CONCURRENTLY IF EXISTS links_special;
CREATE INDEX CONCURRENTLY links_special ON links (workspace_id, number DESC)
  WHERE deleted_at IS NULL AND (archived OR expires_at IS NOT NULL OR disabled_at IS NOT NULL
    OR sealed_password IS NOT NULL OR test_variants IS NOT NULL);
DROP INDEX CONCURRENTLY IF EXISTS links_recent;
CREATE INDEX CONCURRENTLY links_recent ON links (workspace_id, number DESC) INCLUDE (archived, created_at)
  WHERE deleted_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS links_newest;

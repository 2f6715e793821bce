-- outside a transaction
-- Lists of deleted links, the search in them, and the job that erases them.
DROP INDEX CONCURRENTLY IF EXISTS links_deleted;
CREATE INDEX CONCURRENTLY links_deleted ON links (workspace_id, deleted_at, number)
  WHERE deleted_at IS NOT NULL AND erased_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS links_deleted_search;
CREATE INDEX CONCURRENTLY links_deleted_search ON links USING gin (workspace_id, search_text gin_trgm_ops)
  WHERE deleted_at IS NOT NULL AND erased_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS links_erasable;
CREATE INDEX CONCURRENTLY links_erasable ON links (deleted_at) WHERE deleted_at IS NOT NULL AND erased_at IS NULL;

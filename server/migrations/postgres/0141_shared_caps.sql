-- outside a transaction
-- Finds whether partners of a workspace share a cap.
DROP INDEX CONCURRENTLY IF EXISTS reward_versions_shared_caps;
CREATE INDEX CONCURRENTLY reward_versions_shared_caps ON reward_versions (workspace_id)
  WHERE terms -> 'cap' ->> 'scope' IN ('group', 'program');

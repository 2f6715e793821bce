CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

CREATE SEQUENCE link_versions;

-- A deleted link stays for the events that name it; its address and external id become free.
ALTER TABLE links
  ADD COLUMN deleted_at timestamptz,
  ADD COLUMN banned_at timestamptz,
  ADD COLUMN sealed_password bytea,
  ADD COLUMN webhook_ids text[] NOT NULL DEFAULT '{}',
  ADD COLUMN test_winner_at timestamptz,
  ADD COLUMN version bigint NOT NULL DEFAULT nextval('link_versions'),
  ADD COLUMN search_text text GENERATED ALWAYS AS (lower(domain || '/' || key || ' ' || url)) STORED,
  DROP CONSTRAINT links_domain_key,
  DROP CONSTRAINT links_external_id;

CREATE UNIQUE INDEX links_domain_key ON links (domain, lookup_key) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX links_external_id ON links (workspace_id, external_id) WHERE deleted_at IS NULL;
CREATE INDEX links_url ON links (workspace_id, md5(url)) WHERE deleted_at IS NULL;
CREATE INDEX links_search ON links USING gin (workspace_id, search_text gin_trgm_ops) WHERE deleted_at IS NULL;
CREATE INDEX links_test_end ON links (test_completed_at) WHERE test_variants IS NOT NULL AND test_winner_at IS NULL;

DROP INDEX links_workspace_created;
CREATE INDEX links_newest ON links (workspace_id, number DESC) INCLUDE (archived) WHERE deleted_at IS NULL;
CREATE INDEX links_of_domain ON links (workspace_id, domain, number DESC) WHERE deleted_at IS NULL;
CREATE INDEX links_of_tenant ON links (workspace_id, tenant_id, number DESC) WHERE tenant_id IS NOT NULL AND deleted_at IS NULL;

CREATE INDEX link_counters_clicks ON link_counters (workspace_id, clicks DESC, link_number DESC);
CREATE INDEX link_counters_sale_amount ON link_counters (workspace_id, sale_amount DESC, link_number DESC);
CREATE INDEX link_counters_last_clicked
  ON link_counters (workspace_id, (coalesce(last_clicked, '-infinity'::timestamptz)) DESC, link_number DESC);

-- How many rows a workspace has of a kind, so that a limit costs no count of millions. Each connection adds to one of a
-- few rows, so that two of them rarely wait for each other; the sum counts. Row -1 corrects it after a recount.
CREATE TABLE workspace_usage (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  kind text NOT NULL,
  shard smallint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (workspace_id, kind, shard)
) WITH (fillfactor = 50);
INSERT INTO workspace_usage (workspace_id, kind, shard, count)
  SELECT workspace_id, 'links', -1, count(*) FROM links WHERE deleted_at IS NULL GROUP BY workspace_id
  UNION ALL
  SELECT workspace_id, 'customers', -1, count(*) FROM customers WHERE erased_at IS NULL GROUP BY workspace_id;

-- Names for which a certificate was allowed, and when first. A row outlives its domain for a day, so that deleting a
-- domain does not make room for another certificate.
CREATE TABLE certificate_hosts (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  host text NOT NULL,
  allowed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, host)
);
CREATE INDEX certificate_hosts_newest ON certificate_hosts (workspace_id, allowed_at DESC);
-- Domains that are verified today may have a certificate already.
INSERT INTO certificate_hosts (workspace_id, host, allowed_at)
  SELECT workspace_id, slug, created_at - interval '1 day' FROM domains WHERE verified;

-- Finds the names below a name.
CREATE INDEX domains_reversed ON domains (reverse(slug) text_pattern_ops);

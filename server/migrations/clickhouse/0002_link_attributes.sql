-- What events can be filtered by that belongs to the link; kept current by the worker.
CREATE TABLE IF NOT EXISTS {table:link_attributes} (
  workspace_id LowCardinality(String),
  link_number UInt64,
  domain LowCardinality(String),
  is_root Bool,
  folder_id LowCardinality(String),
  tenant_id String,
  partner_id String,
  tag_ids Array(LowCardinality(String)),
  deleted Bool,
  version UInt64
)
ENGINE = {engine:ReplacingMergeTree(version)}
ORDER BY (workspace_id, link_number);

{distributed:link_attributes:sipHash64(workspace_id)};

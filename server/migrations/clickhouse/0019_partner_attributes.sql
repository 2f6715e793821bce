-- The present group and tags of each partner, kept current by the worker. Events find them by the partner of their link.
CREATE TABLE IF NOT EXISTS {table:partner_attributes} (
  workspace_id LowCardinality(String),
  partner_id String,
  group_id LowCardinality(String),
  tag_ids Array(LowCardinality(String)),
  version UInt64
)
ENGINE = {engine:ReplacingMergeTree(version)}
ORDER BY (workspace_id, partner_id);

{distributed:partner_attributes:sipHash64(workspace_id)};

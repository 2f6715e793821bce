-- Counts by UTC month, summed from the days as these are inserted: a year reads twelve rows for each value or link. One partition a
-- year, because a query reads something of every part. Months from before this migration are not complete (`rollup_starts`).
CREATE TABLE IF NOT EXISTS {table:link_months} (
  workspace_id LowCardinality(String),
  link_number UInt64,
  bucket Date CODEC(Delta, ZSTD),
  clicks Int64,
  bots Int64,
  leads Int64,
  sales Int64,
  sale_amount Int128,
  expires_on SimpleAggregateFunction(min, Date) DEFAULT toDate('2149-06-06')
)
ENGINE = {engine:SummingMergeTree((clicks, bots, leads, sales, sale_amount))}
PARTITION BY toYear(bucket)
ORDER BY (workspace_id, link_number, bucket)
SETTINGS non_replicated_deduplication_window = 10000;

{distributed:link_months:sipHash64(workspace_id)};

CREATE TABLE IF NOT EXISTS {table:dimension_months} (
  workspace_id LowCardinality(String),
  dimension LowCardinality(String),
  bucket Date CODEC(Delta, ZSTD),
  value String CODEC(ZSTD),
  clicks Int64,
  leads Int64,
  sales Int64,
  sale_amount Int128,
  expires_on SimpleAggregateFunction(min, Date) DEFAULT toDate('2149-06-06'),
  kept_until SimpleAggregateFunction(max, Date) DEFAULT toDate('2149-06-06')
)
ENGINE = {engine:SummingMergeTree((clicks, leads, sales, sale_amount))}
PARTITION BY toYear(bucket)
ORDER BY (workspace_id, dimension, bucket, value)
TTL kept_until
SETTINGS non_replicated_deduplication_window = 10000, merge_with_ttl_timeout = 86400;

{distributed:dimension_months:sipHash64(workspace_id)};

CREATE MATERIALIZED VIEW IF NOT EXISTS {table:link_months_of_days} TO {local:link_months} AS
SELECT workspace_id, link_number, toStartOfMonth(days.bucket) AS bucket, sum(days.clicks) AS clicks, sum(days.bots) AS bots,
  sum(days.leads) AS leads, sum(days.sales) AS sales, sum(days.sale_amount) AS sale_amount,
  min(days.expires_on) AS expires_on
FROM {local:link_days} AS days
GROUP BY workspace_id, link_number, bucket;

CREATE MATERIALIZED VIEW IF NOT EXISTS {table:dimension_months_of_days} TO {local:dimension_months} AS
SELECT workspace_id, dimension, toStartOfMonth(days.bucket) AS bucket, value, sum(days.clicks) AS clicks,
  sum(days.leads) AS leads, sum(days.sales) AS sales, sum(days.sale_amount) AS sale_amount,
  min(days.expires_on) AS expires_on, max(days.kept_until) AS kept_until
FROM {local:dimension_counts} AS days
GROUP BY workspace_id, dimension, bucket, value;

-- A month that nothing was added to for an hour becomes one part.
ALTER TABLE {table:workspace_counts} MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;
ALTER TABLE {table:link_counts} MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;
ALTER TABLE {table:link_days} MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;
ALTER TABLE {table:dimension_counts} MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;

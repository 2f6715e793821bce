-- Counts of people and bots apart, fed by the insert of the rows; leads and sales come with their own tables.
-- Signed, so that a mistake is mended by adding the difference. `expires_on` is the day when the first of the rows
-- behind a count may be gone; the counts themselves stay. A quarter of an hour fits every time zone; one link in a zone
-- off the hour is counted from its rows.
CREATE TABLE IF NOT EXISTS {table:workspace_counts} (
  workspace_id LowCardinality(String),
  bucket DateTime('UTC') CODEC(Delta, ZSTD),
  clicks Int64,
  bots Int64,
  leads Int64,
  sales Int64,
  sale_amount Int64,
  expires_on SimpleAggregateFunction(min, Date) DEFAULT toDate('2149-06-06')
)
ENGINE = {engine:SummingMergeTree((clicks, bots, leads, sales, sale_amount))}
PARTITION BY toYYYYMM(bucket)
ORDER BY (workspace_id, bucket)
SETTINGS non_replicated_deduplication_window = 10000;

{distributed:workspace_counts:sipHash64(workspace_id)};

CREATE TABLE IF NOT EXISTS {table:link_counts} (
  workspace_id LowCardinality(String),
  link_number UInt64,
  bucket DateTime('UTC') CODEC(Delta, ZSTD),
  clicks Int64,
  bots Int64,
  leads Int64,
  sales Int64,
  sale_amount Int64,
  expires_on SimpleAggregateFunction(min, Date) DEFAULT toDate('2149-06-06')
)
ENGINE = {engine:SummingMergeTree((clicks, bots, leads, sales, sale_amount))}
PARTITION BY toYYYYMM(bucket)
ORDER BY (workspace_id, link_number, bucket)
SETTINGS non_replicated_deduplication_window = 10000;

{distributed:link_counts:sipHash64(workspace_id)};

-- By UTC day, and gone with the last of the rows. Bots have one dimension, their reason.
CREATE TABLE IF NOT EXISTS {table:dimension_counts} (
  workspace_id LowCardinality(String),
  dimension LowCardinality(String),
  bucket Date CODEC(Delta, ZSTD),
  value String CODEC(ZSTD),
  clicks Int64,
  leads Int64,
  sales Int64,
  sale_amount Int64,
  expires_on SimpleAggregateFunction(min, Date) DEFAULT toDate('2149-06-06'),
  kept_until SimpleAggregateFunction(max, Date) DEFAULT toDate('2149-06-06')
)
ENGINE = {engine:SummingMergeTree((clicks, leads, sales, sale_amount))}
PARTITION BY toYYYYMM(bucket)
ORDER BY (workspace_id, dimension, bucket, value)
TTL kept_until
SETTINGS non_replicated_deduplication_window = 10000, merge_with_ttl_timeout = 86400;

{distributed:dimension_counts:sipHash64(workspace_id)};

CREATE MATERIALIZED VIEW IF NOT EXISTS {table:workspace_counts_of_clicks} TO {local:workspace_counts} AS
SELECT workspace_id, toStartOfFifteenMinutes(toDateTime(timestamp, 'UTC')) AS bucket,
  toInt64(countIf(bot = '')) AS clicks, toInt64(countIf(bot != '')) AS bots, min(expires_on) AS expires_on
FROM {local:click_events}
GROUP BY workspace_id, bucket;

CREATE MATERIALIZED VIEW IF NOT EXISTS {table:link_counts_of_clicks} TO {local:link_counts} AS
SELECT workspace_id, link_number, toStartOfHour(toDateTime(timestamp, 'UTC')) AS bucket,
  toInt64(countIf(bot = '')) AS clicks, toInt64(countIf(bot != '')) AS bots, min(expires_on) AS expires_on
FROM {local:click_events}
GROUP BY workspace_id, link_number, bucket;

CREATE MATERIALIZED VIEW IF NOT EXISTS {table:dimension_counts_of_clicks} TO {local:dimension_counts} AS
SELECT workspace_id, pair.1 AS dimension, toDate(timestamp, 'UTC') AS bucket, pair.2 AS value,
  toInt64(count()) AS clicks, min(click.expires_on) AS expires_on, max(click.expires_on) AS kept_until
FROM {local:click_events} AS click
ARRAY JOIN if(bot = '', [
  ('continent', continent),
  ('country', country),
  ('region', concat(country, '\t', region)),
  ('city', concat(country, '\t', region, '\t', city)),
  ('device', device),
  ('browser', browser),
  ('os', os),
  ('trigger', trigger),
  ('referer', referer),
  ('utm_source', utm_source),
  ('utm_medium', utm_medium),
  ('utm_campaign', utm_campaign),
  ('utm_term', utm_term),
  ('utm_content', utm_content)
], [('bot', bot)]) AS pair
GROUP BY workspace_id, dimension, bucket, value;

-- What a lead or sale can be filtered by is copied from its click, so that it is one table that is read.
CREATE TABLE IF NOT EXISTS {table:lead_events} (
  workspace_id LowCardinality(String),
  timestamp DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
  id String CODEC(ZSTD),
  event_name LowCardinality(String),
  customer_id String CODEC(ZSTD),
  metadata String CODEC(ZSTD(3)),
  click_id_text String EPHEMERAL,
  click_id FixedString(30) DEFAULT base64URLDecode(click_id_text),
  click_timestamp DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
  link_number UInt64,
  url String CODEC(ZSTD(3)),
  trigger LowCardinality(String),
  ip IPv6 CODEC(ZSTD),
  country LowCardinality(String),
  region LowCardinality(String),
  city LowCardinality(String),
  continent LowCardinality(String),
  device LowCardinality(String),
  browser LowCardinality(String),
  os LowCardinality(String),
  referer LowCardinality(String),
  referer_url String CODEC(ZSTD(3)),
  utm_source LowCardinality(String),
  utm_medium LowCardinality(String),
  utm_campaign LowCardinality(String),
  utm_term LowCardinality(String),
  utm_content LowCardinality(String),
  bot LowCardinality(String),
  expires_on Date DEFAULT toDate('2149-06-06'),
  INDEX by_customer customer_id TYPE bloom_filter GRANULARITY 4,
  PROJECTION by_link (SELECT * ORDER BY workspace_id, link_number, timestamp)
)
ENGINE = {engine:MergeTree()}
PARTITION BY toYYYYMM(timestamp)
PRIMARY KEY (workspace_id, timestamp)
ORDER BY (workspace_id, timestamp, id)
TTL expires_on
SETTINGS non_replicated_deduplication_window = 10000, deduplicate_merge_projection_mode = 'rebuild', merge_with_ttl_timeout = 86400;

{distributed:lead_events:sipHash64(workspace_id)};

CREATE MATERIALIZED VIEW IF NOT EXISTS {table:workspace_counts_of_leads} TO {local:workspace_counts} AS
SELECT workspace_id, toStartOfFifteenMinutes(toDateTime(timestamp, 'UTC')) AS bucket, toInt64(count()) AS leads, min(event.expires_on) AS expires_on
FROM {local:lead_events} AS event
GROUP BY workspace_id, bucket;

CREATE MATERIALIZED VIEW IF NOT EXISTS {table:link_counts_of_leads} TO {local:link_counts} AS
SELECT workspace_id, link_number, toStartOfHour(toDateTime(timestamp, 'UTC')) AS bucket, toInt64(count()) AS leads, min(event.expires_on) AS expires_on
FROM {local:lead_events} AS event
GROUP BY workspace_id, link_number, bucket;

CREATE MATERIALIZED VIEW IF NOT EXISTS {table:dimension_counts_of_leads} TO {local:dimension_counts} AS
SELECT workspace_id, pair.1 AS dimension, toDate(timestamp, 'UTC') AS bucket, pair.2 AS value, toInt64(count()) AS leads,
  min(event.expires_on) AS expires_on, max(event.expires_on) AS kept_until
FROM {local:lead_events} AS event
ARRAY JOIN [
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
] AS pair
GROUP BY workspace_id, dimension, bucket, value;

CREATE TABLE IF NOT EXISTS {table:sale_events} (
  workspace_id LowCardinality(String),
  timestamp DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
  id String CODEC(ZSTD),
  event_name LowCardinality(String),
  customer_id String CODEC(ZSTD),
  metadata String CODEC(ZSTD(3)),
  -- A refund is a row of its own with a negative amount; it takes the sale itself off when nothing is left of it.
  kind LowCardinality(String),
  sales Int8,
  amount Int64,
  currency LowCardinality(String),
  invoice_id String CODEC(ZSTD),
  payment_processor LowCardinality(String),
  sale_type LowCardinality(String),
  click_id_text String EPHEMERAL,
  click_id FixedString(30) DEFAULT base64URLDecode(click_id_text),
  click_timestamp DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
  link_number UInt64,
  url String CODEC(ZSTD(3)),
  trigger LowCardinality(String),
  ip IPv6 CODEC(ZSTD),
  country LowCardinality(String),
  region LowCardinality(String),
  city LowCardinality(String),
  continent LowCardinality(String),
  device LowCardinality(String),
  browser LowCardinality(String),
  os LowCardinality(String),
  referer LowCardinality(String),
  referer_url String CODEC(ZSTD(3)),
  utm_source LowCardinality(String),
  utm_medium LowCardinality(String),
  utm_campaign LowCardinality(String),
  utm_term LowCardinality(String),
  utm_content LowCardinality(String),
  bot LowCardinality(String),
  expires_on Date DEFAULT toDate('2149-06-06'),
  INDEX by_customer customer_id TYPE bloom_filter GRANULARITY 4,
  PROJECTION by_link (SELECT * ORDER BY workspace_id, link_number, timestamp)
)
ENGINE = {engine:MergeTree()}
PARTITION BY toYYYYMM(timestamp)
PRIMARY KEY (workspace_id, timestamp)
ORDER BY (workspace_id, timestamp, id)
TTL expires_on
SETTINGS non_replicated_deduplication_window = 10000, deduplicate_merge_projection_mode = 'rebuild', merge_with_ttl_timeout = 86400;

{distributed:sale_events:sipHash64(workspace_id)};

CREATE MATERIALIZED VIEW IF NOT EXISTS {table:workspace_counts_of_sales} TO {local:workspace_counts} AS
SELECT workspace_id, toStartOfFifteenMinutes(toDateTime(timestamp, 'UTC')) AS bucket, toInt64(sum(event.sales)) AS sales, sum(event.amount) AS sale_amount, min(event.expires_on) AS expires_on
FROM {local:sale_events} AS event
GROUP BY workspace_id, bucket;

CREATE MATERIALIZED VIEW IF NOT EXISTS {table:link_counts_of_sales} TO {local:link_counts} AS
SELECT workspace_id, link_number, toStartOfHour(toDateTime(timestamp, 'UTC')) AS bucket, toInt64(sum(event.sales)) AS sales, sum(event.amount) AS sale_amount, min(event.expires_on) AS expires_on
FROM {local:sale_events} AS event
GROUP BY workspace_id, link_number, bucket;

CREATE MATERIALIZED VIEW IF NOT EXISTS {table:dimension_counts_of_sales} TO {local:dimension_counts} AS
SELECT workspace_id, pair.1 AS dimension, toDate(timestamp, 'UTC') AS bucket, pair.2 AS value, toInt64(sum(event.sales)) AS sales, sum(event.amount) AS sale_amount,
  min(event.expires_on) AS expires_on, max(event.expires_on) AS kept_until
FROM {local:sale_events} AS event
ARRAY JOIN [
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
] AS pair
GROUP BY workspace_id, dimension, bucket, value;

-- Leads and sales that belong to no link, with the reason. They are listed on request and counted nowhere, so no rollup
-- is fed by these tables.
CREATE TABLE IF NOT EXISTS {table:unattributed_leads} (
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
  attribution LowCardinality(String),
  expires_on Date DEFAULT toDate('2149-06-06'),
  stored_at DateTime64(3, 'UTC') DEFAULT toDateTime64(0, 3, 'UTC') CODEC(Delta, ZSTD),
  INDEX by_customer customer_id TYPE bloom_filter GRANULARITY 4
)
ENGINE = {engine:MergeTree()}
PARTITION BY toYYYYMM(timestamp)
PRIMARY KEY (workspace_id, timestamp)
ORDER BY (workspace_id, timestamp, id)
TTL expires_on
SETTINGS merge_with_ttl_timeout = 86400;

{distributed:unattributed_leads:sipHash64(workspace_id)};

CREATE TABLE IF NOT EXISTS {table:unattributed_sales} (
  workspace_id LowCardinality(String),
  timestamp DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
  id String CODEC(ZSTD),
  event_name LowCardinality(String),
  customer_id String CODEC(ZSTD),
  metadata String CODEC(ZSTD(3)),
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
  attribution LowCardinality(String),
  expires_on Date DEFAULT toDate('2149-06-06'),
  stored_at DateTime64(3, 'UTC') DEFAULT toDateTime64(0, 3, 'UTC') CODEC(Delta, ZSTD),
  INDEX by_customer customer_id TYPE bloom_filter GRANULARITY 4
)
ENGINE = {engine:MergeTree()}
PARTITION BY toYYYYMM(timestamp)
PRIMARY KEY (workspace_id, timestamp)
ORDER BY (workspace_id, timestamp, id)
TTL expires_on
SETTINGS merge_with_ttl_timeout = 86400;

{distributed:unattributed_sales:sipHash64(workspace_id)};

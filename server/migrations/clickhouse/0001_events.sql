CREATE TABLE IF NOT EXISTS {table:click_events} (
  workspace_id LowCardinality(String),
  timestamp DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
  id_text String EPHEMERAL,
  id FixedString(30) DEFAULT base64URLDecode(id_text),
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
  INDEX by_id id TYPE bloom_filter GRANULARITY 4,
  PROJECTION by_link (SELECT * ORDER BY workspace_id, link_number, timestamp)
)
ENGINE = {engine:MergeTree()}
PARTITION BY toYYYYMM(timestamp)
PRIMARY KEY (workspace_id, timestamp)
ORDER BY (workspace_id, timestamp, id)
SETTINGS non_replicated_deduplication_window = 10000, deduplicate_merge_projection_mode = 'rebuild';

{distributed:click_events:sipHash64(workspace_id)};

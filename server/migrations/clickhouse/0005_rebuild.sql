-- Clicks that `tributary rebuild` has read from the log and not yet compared with what is stored.
CREATE TABLE IF NOT EXISTS {table:click_events_staged} (
  batch String,
  position UInt32,
  staged_at DateTime('UTC') DEFAULT now(),
  workspace_id LowCardinality(String),
  timestamp DateTime64(3, 'UTC'),
  id_text String EPHEMERAL,
  id FixedString(30) DEFAULT base64URLDecode(id_text),
  link_number UInt64,
  url String CODEC(ZSTD),
  trigger LowCardinality(String),
  ip IPv6,
  country LowCardinality(String),
  region LowCardinality(String),
  city LowCardinality(String),
  continent LowCardinality(String),
  device LowCardinality(String),
  browser LowCardinality(String),
  os LowCardinality(String),
  referer LowCardinality(String),
  referer_url String CODEC(ZSTD),
  utm_source LowCardinality(String),
  utm_medium LowCardinality(String),
  utm_campaign LowCardinality(String),
  utm_term LowCardinality(String),
  utm_content LowCardinality(String),
  bot LowCardinality(String),
  expires_on Date
)
ENGINE = {engine:MergeTree()}
ORDER BY (batch, id)
TTL staged_at + INTERVAL 1 DAY;

{distributed:click_events_staged:sipHash64(workspace_id)};

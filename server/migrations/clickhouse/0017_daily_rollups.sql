-- Counts of a link by UTC day, summed from its hours as these are inserted: lists of links over months read these. Days from before
-- this migration are not complete (PostgreSQL's `rollup_starts`).
CREATE TABLE IF NOT EXISTS {table:link_days} (
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
PARTITION BY toYYYYMM(bucket)
ORDER BY (workspace_id, link_number, bucket)
SETTINGS non_replicated_deduplication_window = 10000;

{distributed:link_days:sipHash64(workspace_id)};

CREATE MATERIALIZED VIEW IF NOT EXISTS {table:link_days_of_hours} TO {local:link_days} AS
SELECT workspace_id, link_number, toDate(hours.bucket) AS bucket, sum(hours.clicks) AS clicks, sum(hours.bots) AS bots,
  sum(hours.leads) AS leads, sum(hours.sales) AS sales, sum(hours.sale_amount) AS sale_amount,
  min(hours.expires_on) AS expires_on
FROM {local:link_counts} AS hours
GROUP BY workspace_id, link_number, bucket;

-- Three more dimensions with their bits of `folded`: url (9), base_url (10), referer_url (11).
ALTER TABLE {table:dimension_counts_of_clicks} MODIFY QUERY
SELECT workspace_id, pair.1 AS dimension, toDate(timestamp, 'UTC') AS bucket, pair.2 AS value, toInt64(count()) AS clicks,
  min(event.expires_on) AS expires_on, max(event.expires_on) AS kept_until
FROM {local:click_events} AS event
ARRAY JOIN if(bot = '', [
  ('continent', continent),
  ('country', country),
  ('region', concat(country, '\t', region)),
  if(bitTest(folded, 0), ('city folded', ''), ('city', concat(country, '\t', region, '\t', city))),
  ('device', device),
  if(bitTest(folded, 1), ('browser folded', ''), ('browser', browser)),
  if(bitTest(folded, 2), ('os folded', ''), ('os', os)),
  ('trigger', trigger),
  if(bitTest(folded, 3), ('referer folded', ''), ('referer', referer)),
  if(bitTest(folded, 4), ('utm_source folded', ''), ('utm_source', utm_source)),
  if(bitTest(folded, 5), ('utm_medium folded', ''), ('utm_medium', utm_medium)),
  if(bitTest(folded, 6), ('utm_campaign folded', ''), ('utm_campaign', utm_campaign)),
  if(bitTest(folded, 7), ('utm_term folded', ''), ('utm_term', utm_term)),
  if(bitTest(folded, 8), ('utm_content folded', ''), ('utm_content', utm_content)),
  if(bitTest(folded, 9), ('url folded', ''), ('url', url)),
  if(bitTest(folded, 10), ('base_url folded', ''), ('base_url', cutFragment(cutQueryString(url)))),
  if(bitTest(folded, 11), ('referer_url folded', ''), ('referer_url', referer_url))
], [('bot', bot)]) AS pair
GROUP BY workspace_id, dimension, bucket, value;

ALTER TABLE {table:dimension_counts_of_leads} MODIFY QUERY
SELECT workspace_id, pair.1 AS dimension, toDate(timestamp, 'UTC') AS bucket, pair.2 AS value, toInt64(count()) AS leads,
  min(event.expires_on) AS expires_on, max(event.expires_on) AS kept_until
FROM {local:lead_events} AS event
ARRAY JOIN [
  ('continent', continent),
  ('country', country),
  ('region', concat(country, '\t', region)),
  if(bitTest(folded, 0), ('city folded', ''), ('city', concat(country, '\t', region, '\t', city))),
  ('device', device),
  if(bitTest(folded, 1), ('browser folded', ''), ('browser', browser)),
  if(bitTest(folded, 2), ('os folded', ''), ('os', os)),
  ('trigger', trigger),
  if(bitTest(folded, 3), ('referer folded', ''), ('referer', referer)),
  if(bitTest(folded, 4), ('utm_source folded', ''), ('utm_source', utm_source)),
  if(bitTest(folded, 5), ('utm_medium folded', ''), ('utm_medium', utm_medium)),
  if(bitTest(folded, 6), ('utm_campaign folded', ''), ('utm_campaign', utm_campaign)),
  if(bitTest(folded, 7), ('utm_term folded', ''), ('utm_term', utm_term)),
  if(bitTest(folded, 8), ('utm_content folded', ''), ('utm_content', utm_content)),
  if(bitTest(folded, 9), ('url folded', ''), ('url', url)),
  if(bitTest(folded, 10), ('base_url folded', ''), ('base_url', cutFragment(cutQueryString(url)))),
  if(bitTest(folded, 11), ('referer_url folded', ''), ('referer_url', referer_url))
] AS pair
GROUP BY workspace_id, dimension, bucket, value;

ALTER TABLE {table:dimension_counts_of_sales} MODIFY QUERY
SELECT workspace_id, pair.1 AS dimension, toDate(timestamp, 'UTC') AS bucket, pair.2 AS value, toInt64(sum(event.sales)) AS sales, sum(event.amount) AS sale_amount,
  min(event.expires_on) AS expires_on, max(event.expires_on) AS kept_until
FROM {local:sale_events} AS event
ARRAY JOIN [
  ('continent', continent),
  ('country', country),
  ('region', concat(country, '\t', region)),
  if(bitTest(folded, 0), ('city folded', ''), ('city', concat(country, '\t', region, '\t', city))),
  ('device', device),
  if(bitTest(folded, 1), ('browser folded', ''), ('browser', browser)),
  if(bitTest(folded, 2), ('os folded', ''), ('os', os)),
  ('trigger', trigger),
  if(bitTest(folded, 3), ('referer folded', ''), ('referer', referer)),
  if(bitTest(folded, 4), ('utm_source folded', ''), ('utm_source', utm_source)),
  if(bitTest(folded, 5), ('utm_medium folded', ''), ('utm_medium', utm_medium)),
  if(bitTest(folded, 6), ('utm_campaign folded', ''), ('utm_campaign', utm_campaign)),
  if(bitTest(folded, 7), ('utm_term folded', ''), ('utm_term', utm_term)),
  if(bitTest(folded, 8), ('utm_content folded', ''), ('utm_content', utm_content)),
  if(bitTest(folded, 9), ('url folded', ''), ('url', url)),
  if(bitTest(folded, 10), ('base_url folded', ''), ('base_url', cutFragment(cutQueryString(url)))),
  if(bitTest(folded, 11), ('referer_url folded', ''), ('referer_url', referer_url))
] AS pair
GROUP BY workspace_id, dimension, bucket, value;

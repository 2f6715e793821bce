-- Folded values are counted in a dimension of their own, which no visitor can write to.
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
  if(bitTest(folded, 8), ('utm_content folded', ''), ('utm_content', utm_content))
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
  if(bitTest(folded, 8), ('utm_content folded', ''), ('utm_content', utm_content))
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
  if(bitTest(folded, 8), ('utm_content folded', ''), ('utm_content', utm_content))
] AS pair
GROUP BY workspace_id, dimension, bucket, value;

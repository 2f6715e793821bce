-- The day from which on a row may be deleted, by the plan that its workspace had when it was stored.
ALTER TABLE {table:click_events}
  ADD COLUMN IF NOT EXISTS expires_on Date DEFAULT toDate('2149-06-06') AFTER bot,
  MODIFY TTL expires_on;

-- Once a day is enough: each time rewrites the parts that hold a row which is due.
ALTER TABLE {table:click_events} MODIFY SETTING merge_with_ttl_timeout = 86400;

{distributed-alter:click_events:ADD COLUMN IF NOT EXISTS expires_on Date DEFAULT toDate('2149-06-06') AFTER bot};

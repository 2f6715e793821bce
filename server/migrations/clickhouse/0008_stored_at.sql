-- When a row was stored, by the clock of the worker that did. Streams follow it, so that they also show an event that
-- comes late. Rows from before are of 1970: no stream goes back to them.
ALTER TABLE {table:click_events}
  ADD COLUMN IF NOT EXISTS stored_at DateTime64(3, 'UTC') DEFAULT toDateTime64(0, 3, 'UTC') CODEC(Delta, ZSTD),
  ADD INDEX IF NOT EXISTS by_stored_at stored_at TYPE minmax GRANULARITY 1;

{distributed-alter:click_events:ADD COLUMN IF NOT EXISTS stored_at DateTime64(3, 'UTC') DEFAULT toDateTime64(0, 3, 'UTC')};

ALTER TABLE {table:click_events} MATERIALIZE INDEX IF EXISTS by_stored_at;

ALTER TABLE {table:lead_events}
  ADD COLUMN IF NOT EXISTS stored_at DateTime64(3, 'UTC') DEFAULT toDateTime64(0, 3, 'UTC') CODEC(Delta, ZSTD),
  ADD INDEX IF NOT EXISTS by_stored_at stored_at TYPE minmax GRANULARITY 1;

{distributed-alter:lead_events:ADD COLUMN IF NOT EXISTS stored_at DateTime64(3, 'UTC') DEFAULT toDateTime64(0, 3, 'UTC')};

ALTER TABLE {table:sale_events}
  ADD COLUMN IF NOT EXISTS stored_at DateTime64(3, 'UTC') DEFAULT toDateTime64(0, 3, 'UTC') CODEC(Delta, ZSTD),
  ADD INDEX IF NOT EXISTS by_stored_at stored_at TYPE minmax GRANULARITY 1;

{distributed-alter:sale_events:ADD COLUMN IF NOT EXISTS stored_at DateTime64(3, 'UTC') DEFAULT toDateTime64(0, 3, 'UTC')};

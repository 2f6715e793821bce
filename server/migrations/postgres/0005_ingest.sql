-- How far each partition of the event log is stored. `intent` is the batch under way: which messages it holds and
-- which of their events were dropped, so that a crash is followed by the very same batch.
CREATE TABLE ingest_cursors (
  partition integer PRIMARY KEY,
  sequence bigint NOT NULL DEFAULT 0,
  intent jsonb,
  owner text,
  leased_until timestamptz NOT NULL DEFAULT '-infinity'
);

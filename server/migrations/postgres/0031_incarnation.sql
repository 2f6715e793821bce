-- The life of this database; `database` stays for ever. A worker counts `beat` up and copies it to ClickHouse and the
-- log: a copy that is higher than this row proves that PostgreSQL went back in time. `server` is the start time of the
-- PostgreSQL process; another value means a restart, a failover or a restore, and begins a new incarnation with a new id.
CREATE TABLE database_incarnation (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  database uuid NOT NULL DEFAULT gen_random_uuid(),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  server text NOT NULL DEFAULT '',
  started_at timestamptz NOT NULL DEFAULT now(),
  beat bigint NOT NULL DEFAULT 0,
  beat_at timestamptz NOT NULL DEFAULT now(),
  -- The last beat that the log has acknowledged, and the last sequence of each stream at that time.
  log_beat bigint NOT NULL DEFAULT 0,
  log_streams jsonb NOT NULL DEFAULT '{}'
);
INSERT INTO database_incarnation DEFAULT VALUES;

-- Every time an engine came back older than the others. `since` is the state it went back to, `until` the newest state
-- that the others know of; `sequences` are the numbers in between that were skipped, by the name of the sequence.
CREATE TABLE engine_rewinds (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  engine text NOT NULL CHECK (engine IN ('postgresql', 'nats')),
  found_at timestamptz NOT NULL DEFAULT now(),
  since timestamptz NOT NULL,
  until timestamptz NOT NULL,
  -- False after a restart of PostgreSQL that may have lost its last commits: the row goes if nothing was lost.
  is_certain boolean NOT NULL,
  sequences jsonb NOT NULL DEFAULT '{}',
  -- Null until the worker has counted.
  lost jsonb
);

-- When the last stored message arrived in the log: tells that message from another one with the same sequence.
ALTER TABLE ingest_cursors ADD COLUMN arrived_at timestamptz;

-- Operators see the state of the whole installation. Only the command line and the first setup make one.
ALTER TABLE users ADD COLUMN is_operator boolean NOT NULL DEFAULT false;

-- Each process reports here every few seconds while it runs.
CREATE TABLE process_beats (
  id text PRIMARY KEY,
  role text NOT NULL,
  host text NOT NULL,
  version text NOT NULL,
  -- Some of the metrics of the process: lists of a name, a label and a value.
  figures jsonb NOT NULL,
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL
);
CREATE INDEX process_beats_seen ON process_beats (seen_at);

-- Backups and verifications that the command line made.
CREATE TABLE maintenance_runs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('backup', 'verify')),
  is_successful boolean NOT NULL,
  -- Where the backup is, or why it failed.
  details jsonb NOT NULL,
  started_at timestamptz NOT NULL,
  finished_at timestamptz NOT NULL
);
CREATE INDEX maintenance_runs_latest ON maintenance_runs (kind, is_successful, finished_at DESC);

-- The newest version that is known, in one row.
CREATE TABLE known_release (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- Null until it is known.
  version text,
  url text,
  source text CHECK (source IN ('operator', 'fetched')),
  known_at timestamptz,
  -- When UPDATE_CHECK_URL was last fetched.
  fetched_at timestamptz
);

-- The first day from which rollups that were added later have all events; earlier days are read from finer rollups or rows
-- until `tributary rebuild` completes them. Views of ClickHouse see every insert from tomorrow on, in every time zone.
CREATE TABLE rollup_starts (
  rollup text PRIMARY KEY,
  first_day date NOT NULL
);

INSERT INTO rollup_starts (rollup, first_day)
  SELECT rollup, CASE WHEN EXISTS (SELECT FROM link_counters WHERE clicks > 0) OR EXISTS (SELECT FROM conversions)
    THEN (now() AT TIME ZONE 'UTC')::date + 2 ELSE '1970-01-01' END
  FROM unnest(ARRAY['link_days', 'urls']) AS rollup;

INSERT INTO rollup_starts (rollup, first_day)
  SELECT 'months', CASE WHEN EXISTS (SELECT FROM link_counters WHERE clicks > 0) OR EXISTS (SELECT FROM conversions)
    THEN (date_trunc('month', now() AT TIME ZONE 'UTC' + interval '1 day') + interval '1 month')::date ELSE '1970-01-01' END;

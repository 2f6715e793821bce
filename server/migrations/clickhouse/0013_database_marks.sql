-- The newest beat of each PostgreSQL database whose events are here, with its sequences; see database_incarnation there.
CREATE TABLE IF NOT EXISTS {table:database_marks} (
  database String,
  beat UInt64,
  mark String
)
ENGINE = {engine:ReplacingMergeTree(beat)}
ORDER BY database;

{distributed:database_marks:sipHash64(database)};

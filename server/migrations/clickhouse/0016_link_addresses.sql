-- The id and key of each link, so that an event keeps the address of a link that PostgreSQL has lost.
ALTER TABLE {table:link_attributes}
  ADD COLUMN IF NOT EXISTS link_id String DEFAULT '' CODEC(ZSTD),
  ADD COLUMN IF NOT EXISTS key String DEFAULT '' CODEC(ZSTD);

{distributed-alter:link_attributes:ADD COLUMN IF NOT EXISTS link_id String DEFAULT '', ADD COLUMN IF NOT EXISTS key String DEFAULT ''};

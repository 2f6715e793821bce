import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { clickHouseStatements } from './migrate.ts'

const text = `-- What this is; and why.
CREATE TABLE IF NOT EXISTS {table:visits} (
  workspace_id String, -- first; always
  at DateTime
)
ENGINE = {engine:MergeTree()}
ORDER BY (workspace_id, at);

{distributed:visits:sipHash64(workspace_id)};

CREATE TABLE IF NOT EXISTS {table:totals} (id UInt64, version UInt64)
ENGINE = {engine:ReplacingMergeTree(version)}
ORDER BY id;
`

test('on one server the tables are as written in the file', () => {
  expect(clickHouseStatements(text, undefined)).toEqual([
    `CREATE TABLE IF NOT EXISTS visits (
  workspace_id String, -- first; always
  at DateTime
)
ENGINE = MergeTree()
ORDER BY (workspace_id, at)`,
    `CREATE TABLE IF NOT EXISTS totals (id UInt64, version UInt64)
ENGINE = ReplacingMergeTree(version)
ORDER BY id`,
  ])
})

test('on a cluster they are replicated, with a distributed table over them', () => {
  expect(clickHouseStatements(text, 'main')).toEqual([
    `CREATE TABLE IF NOT EXISTS visits_local ON CLUSTER 'main' (
  workspace_id String, -- first; always
  at DateTime
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
ORDER BY (workspace_id, at)`,
    `CREATE TABLE IF NOT EXISTS visits ON CLUSTER 'main' AS visits_local
           ENGINE = Distributed('main', currentDatabase(), visits_local, sipHash64(workspace_id))`,
    `CREATE TABLE IF NOT EXISTS totals_local ON CLUSTER 'main' (id UInt64, version UInt64)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', version)
ORDER BY id`,
  ])
})

test('a view reads and writes local tables, and a column change reaches the distributed table too', () => {
  const more = `ALTER TABLE {table:visits} ADD COLUMN IF NOT EXISTS bot Bool;
{distributed-alter:visits:ADD COLUMN IF NOT EXISTS bot Bool};
CREATE MATERIALIZED VIEW IF NOT EXISTS {table:totals_of_visits} TO {local:totals} AS SELECT 1 FROM {local:visits};`
  expect(clickHouseStatements(more, undefined)).toEqual([
    'ALTER TABLE visits ADD COLUMN IF NOT EXISTS bot Bool',
    'CREATE MATERIALIZED VIEW IF NOT EXISTS totals_of_visits TO totals AS SELECT 1 FROM visits',
  ])
  expect(clickHouseStatements(more, 'main')).toEqual([
    "ALTER TABLE visits_local ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS bot Bool",
    "ALTER TABLE visits ON CLUSTER 'main' ADD COLUMN IF NOT EXISTS bot Bool",
    "CREATE MATERIALIZED VIEW IF NOT EXISTS totals_of_visits_local ON CLUSTER 'main' TO totals_local AS SELECT 1 FROM visits_local",
  ])
})

test('our own files leave no placeholder unexpanded, and all of them are repeatable', async () => {
  const folder = new URL('../../migrations/clickhouse/', import.meta.url)
  for (const name of await readdir(folder)) {
    const file = await readFile(new URL(name, folder), 'utf8')
    const plain = clickHouseStatements(file, undefined)
    expect(plain.filter((statement) => /[{}]/.test(statement))).toEqual([])
    const clustered = clickHouseStatements(file, 'main')
    for (const statement of [...plain, ...clustered])
      expect(statement).toMatch(/IF (NOT )?EXISTS|MODIFY (SETTING|QUERY|COLUMN)/)
    for (const statement of clustered) {
      expect(statement).toContain("ON CLUSTER 'main'")
      expect(statement.replaceAll(/\{(shard|replica|database|table)\}/g, '')).not.toMatch(/[{}]/)
    }
    const distributed = clustered.filter((statement) => statement.includes('Distributed('))
    expect(clustered.filter((statement) => /CREATE TABLE .*_local/.test(statement.split('\n')[0] ?? ''))).toHaveLength(
      plain.filter((statement) => statement.startsWith('CREATE TABLE')).length + distributed.length,
    )
  }
})

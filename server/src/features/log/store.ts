import { type ClickHouse, query } from '../../platform/clickhouse.ts'

// NOTE every workspace: a disk holds the rows of all.
export async function selectFreeRatio(clickhouse: ClickHouse): Promise<number | undefined> {
  const [row] = await query<{ free: number | null }>(
    clickhouse,
    'SELECT min(unreserved_space / total_space) AS free FROM system.disks WHERE total_space > 0',
    {},
  )
  return row?.free ?? undefined
}

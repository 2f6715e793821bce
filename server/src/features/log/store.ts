import { type AllWorkspacesClickHouse, query } from '../../platform/clickhouse.ts'

export async function selectFreeRatio(clickhouse: AllWorkspacesClickHouse): Promise<number | undefined> {
  const [row] = await query<{ free: number | null }>(
    clickhouse,
    'SELECT min(unreserved_space / total_space) AS free FROM system.disks WHERE total_space > 0',
    {},
  )
  return row?.free ?? undefined
}

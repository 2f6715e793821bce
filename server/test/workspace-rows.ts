import { sql } from 'kysely'
import { selectErasableTables } from '../src/maintenance/erase-store.ts'
import type { Platform } from '../src/platform/context.ts'

// The worker moves or adds up rows of these tables at any time.
const moving = /^(outbox|link_total|ledger_sums|partner_attribute_changes)/

/** Returns the tables that have rows of the workspace, with their number. */
export async function countRows({ db }: Pick<Platform, 'db'>, workspaceId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { name, parent } of await selectErasableTables(db)) {
    if (parent !== null || moving.test(name)) continue
    const result = await sql<{ count: bigint }>`
      SELECT count(*) FROM ${sql.table(name)} WHERE workspace_id = ${workspaceId}`.execute(db)
    const count = Number(result.rows[0]?.count)
    if (count > 0) counts[name] = count
  }
  return counts
}

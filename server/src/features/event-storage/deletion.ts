import { chunks } from '../../platform/batches.ts'
import type { Platform } from '../../platform/context.ts'
import { buildClickSelection, buildConversionSelection, deleteRows, hasRows, type RowSelection } from './store.ts'

const deletedAtOnce = 2_000

export type DeletedRows = RowSelection
/** Runs before rows are deleted. After an interruption the rows are still there, so it runs again. */
type BeforeDeletion = (rows: DeletedRows) => Promise<void>

/** Deletes a lead, sale or refund. */
export function deleteConversion(
  platform: Pick<Platform, 'clickhouse' | 'config'>,
  kind: 'leads' | 'sales',
  conversion: { workspaceId: string; id: string; at: number },
  before: BeforeDeletion,
): Promise<void> {
  const table = kind === 'leads' ? 'lead_events' : 'sale_events'
  return deleteStored(platform, buildConversionSelection(table, conversion), before)
}

/** A click to delete: only rows stored at or after `since`, so that rows of an earlier message stay. */
export type DeletedClick = { workspaceId: string; id: string; at: number; isBot: boolean; since: number }

/** Deletes clicks of a workspace. */
export async function deleteClicks(
  platform: Pick<Platform, 'clickhouse' | 'config'>,
  workspaceId: string,
  clicks: DeletedClick[],
  before: BeforeDeletion,
): Promise<void> {
  for (const some of chunks(clicks, deletedAtOnce)) {
    const times = some.map(({ at }) => at)
    const { bots = [], people = [] } = Object.groupBy(some, ({ isBot }) => (isBot ? 'bots' : 'people'))
    const rows = buildClickSelection({
      workspaceId,
      people: people.map(({ id }) => id),
      bots: bots.map(({ id }) => id),
      from: Math.min(...times),
      to: Math.max(...times),
      since: Math.min(...some.map(({ since }) => since)),
    })
    await deleteStored(platform, rows, before)
  }
}

async function deleteStored(
  { clickhouse, config }: Pick<Platform, 'clickhouse' | 'config'>,
  rows: RowSelection,
  before: BeforeDeletion,
): Promise<void> {
  if (!(await hasRows(clickhouse, rows))) return
  await before(rows)
  await deleteRows(clickhouse, config.CLICKHOUSE_CLUSTER, rows)
}

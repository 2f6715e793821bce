import { expect, test, vi } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { clickRow, saleRow, storeEvents } from '../../../test/events/feed-rows.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { query } from '../../platform/clickhouse.ts'
import type { Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { linkNumbers } from '../links/service.ts'
import { monthsOfEvents, removeClicks, removeConversions, rollupDifferences } from './service.ts'

vi.setConfig({ testTimeout: 240_000 })
const platform = await openOwnDatabase()

/** The platform of a worker that dies before its nth call of ClickHouse. */
function mortal(lastCall: number): Platform {
  let calls = 0
  const clickhouse = new Proxy(platform.clickhouse, {
    get(target, property) {
      const value = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      return (...input: unknown[]) => {
        if (calls++ >= lastCall) throw new Error('crash')
        return value.apply(target, input)
      }
    },
  })
  return { ...platform, clickhouse }
}

/** Two clicks by people, one by a bot and two sales; the first of each kind is to be removed. */
async function setUp() {
  const workspace = await buildWorkspace(platform)
  const link = await buildLink(platform, workspace)
  const [linkNumber = 0n] = await linkNumbers(contextIn(platform, workspace.id), { ids: [link.id] })
  const owner = { workspaceId: workspace.id, linkNumber }
  const clicks = [clickRow(owner), clickRow(owner, { bot: 'head' }), clickRow(owner)]
  const sales = [saleRow(owner), saleRow(owner)]
  await storeEvents(platform, { clicks, sales })
  const removedClicks = clicks.slice(0, 2).map(({ id_text, timestamp, bot }) => {
    return { workspaceId: workspace.id, id: id_text, at: timestamp, isBot: bot !== '', since: 0 }
  })
  const removedSale = { workspaceId: workspace.id, id: sales[0]?.id as string, at: sales[0]?.timestamp as number }
  return {
    workspaceId: workspace.id,
    clicks: (on: Platform) => removeClicks(on, removedClicks),
    sales: (on: Platform) => transaction(on, (on) => removeConversions(on, 'sales', removedSale)),
  }
}

async function countRows(table: string, workspaceId: string): Promise<number> {
  const statement = `SELECT count() AS n FROM ${table} WHERE workspace_id = {workspaceId:String}`
  return Number((await query<{ n: number }>(platform.clickhouse, statement, { workspaceId }))[0]?.n)
}

test.each([
  ['clicks', 'click_events'],
  ['sales', 'sale_events'],
] as const)(
  'wherever a worker dies while it removes %s, the next one leaves rows and rollups equal',
  async (kind, table) => {
    for (let lastCall = 0, isDead = true; isDead; lastCall += 1) {
      const { workspaceId, [kind]: remove } = await setUp()
      isDead = await remove(mortal(lastCall)).then(
        () => false,
        () => true,
      )
      await remove(platform)
      expect(await countRows(table, workspaceId)).toBe(1)
      for (const month of await monthsOfEvents(platform, workspaceId))
        expect(await rollupDifferences(platform, { month, workspaceId }), `death at call ${lastCall}`).toEqual([])
    }
  },
)

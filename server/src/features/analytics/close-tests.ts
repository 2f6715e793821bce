import type { Platform } from '../../platform/context.ts'
import { buildWhere } from '../events/service.ts'
import { dueTests, finishAbTest } from '../links/service.ts'
import { findDimension } from '../rollups/service.ts'
import { presentTotal } from './present.ts'
import { selectValues } from './store.ts'
import { chooseWinner, type Outcome } from './winner.ts'

const mostUrls = 10_000

/** Closes A/B tests that are over. The winner becomes the link's destination; without a winner, it stays unchanged. */
export async function closeTests(platform: Platform): Promise<void> {
  for (const test of await dueTests(platform)) {
    const winner = await chooseWinner(test.variants, await readOutcomes(platform, test))
    await finishAbTest(platform, test, winner?.url)
    platform.log.info({ link: test.linkId, winner: winner?.url }, 'A/B test closed')
  }
}

type Test = { workspaceId: string; linkNumber: bigint; startedAt: Date }

/** The clicks and leads of each destination URL of an A/B test. */
async function readOutcomes(platform: Platform, { workspaceId, linkNumber, startedAt }: Test): Promise<Outcome[]> {
  const period = { from: startedAt, to: new Date(platform.now().getTime() + 1) }
  const filter = { linkNumbers: [{ numbers: [linkNumber], excluded: false }], hiddenFolders: [] }
  const groups = await selectValues(platform.clickhouse, {
    wheres: {
      clicks: buildWhere(workspaceId, period, filter, 'clicks'),
      leads: buildWhere(workspaceId, period, filter, 'leads'),
    },
    ...{ period, ranges: [], filters: [], bots: 'exclude', dimensions: [findDimension('url')] },
    most: 'clicks',
    limit: mostUrls,
  })
  return groups.map((group) => ({ url: group.value, ...presentTotal(group) }))
}

import { betweenConversions } from '../features/event-storage/service.ts'
import { pauseIngest } from '../features/ingest/service.ts'
import { type Difference, mendRollups, monthsOfEvents, rollupDifferences } from '../features/rollups/service.ts'
import { sleep } from '../platform/clock.ts'
import type { Platform } from '../platform/context.ts'

type Handles = Pick<Platform, 'config' | 'db' | 'clickhouse'>
type Options = { workspaceId?: string; repair?: boolean }

/** A count of a workspace in a month that is not what the rows come to: too low by `missing`, too high by `surplus`. */
export type RollupFinding = Difference & { month: string; repaired: boolean }
export type RollupStep = { month: string; findings: RollupFinding[]; percent: number }

const recheckAfterMs = 2_000

/** Compares the counts by time and by dimension with the rows, a month at a time. */
export async function* reconcileRollups(platform: Handles, options: Options): AsyncGenerator<RollupStep> {
  const months = await monthsOfEvents(platform, options.workspaceId)
  for (const [index, month] of months.entries()) {
    let findings = await read(platform, options.workspaceId, month)
    if (findings.length > 0) findings = await lookAgain(platform, options, month, findings)
    yield { month, findings, percent: Math.floor(((index + 1) * 100) / months.length) }
  }
}

async function read(platform: Handles, workspaceId: string | undefined, month: string): Promise<RollupFinding[]> {
  const differences = await rollupDifferences(platform, { workspaceId, month })
  return differences.map((difference) => ({ ...difference, month, repaired: false }))
}

/** Rows and counts can't be read at one moment: what differs only because of that is gone when no batch is under way. */
async function lookAgain(
  platform: Handles,
  { workspaceId, repair }: Options,
  month: string,
  before: RollupFinding[],
): Promise<RollupFinding[]> {
  await sleep(recheckAfterMs)
  const workspaces = [...new Set(before.map((finding) => finding.workspaceId))]
  const known = new Set(before.map(nameOf))
  return pauseIngest(platform, workspaces, (platform, areClicksStill) =>
    betweenConversions(platform, async (platform, areConversionsStill) => {
      const findings = (await read(platform, workspaceId, month)).filter((finding) => known.has(nameOf(finding)))
      if (!repair || !areClicksStill || !areConversionsStill) return findings
      const workspaceIds = [...new Set(findings.map((finding) => finding.workspaceId))]
      await mendRollups(platform, { workspaceIds, month })
      return findings.map((finding) => ({ ...finding, repaired: true }))
    }),
  )
}

function nameOf({ workspaceId, rollup, count }: RollupFinding): string {
  return `${workspaceId} ${rollup} ${count}`
}

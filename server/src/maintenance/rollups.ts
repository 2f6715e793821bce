import { betweenConversions } from '../features/event-storage/service.ts'
import { pauseIngest } from '../features/ingest/service.ts'
import {
  completeRollups,
  type Difference,
  monthsOfEvents,
  repairRollups,
  rollupDifferences,
  rollupStarts,
} from '../features/rollups/service.ts'
import { compare, type Handles } from './compare.ts'

/** A rollup of a workspace and month that differs from the event rows: `missing` too low, `surplus` too high. */
export type RollupFinding = Difference & { month: string; repaired: boolean }

/** Compares the rollups (counts by time and by dimension) with the event rows, a month at a time. */
export async function* reconcileRollups(
  platform: Handles,
  { workspaceId, repair = false }: { workspaceId?: string; repair?: boolean },
) {
  const months = await monthsOfEvents(platform, workspaceId)
  // A repair also completes rollups that were added later.
  const starts = repair ? undefined : await rollupStarts(platform)
  const read = async (platform: Handles, month: string) => {
    const differences = await rollupDifferences(platform, { workspaceId, month, starts })
    const findings = differences.map((difference) => ({ ...difference, month, repaired: false }))
    const done = months.indexOf(month) + 1
    return { month, findings, percent: Math.floor((done * 100) / months.length), next: months[done] }
  }
  yield* compare(
    platform,
    {
      first: months[0],
      read,
      findBucket: ({ workspaceId, rollup, count }) => `${workspaceId} ${rollup} ${count}`,
      // ClickHouse has no snapshot over event rows and rollups, so workers pause while both are read.
      pause: (platform, suspects, work) =>
        pauseIngest(platform, listWorkspaces(suspects), (platform, areClicksLocked) =>
          betweenConversions(platform, (platform, isLocked) => work(platform, isLocked && areClicksLocked)),
        ),
      repair: repairMonth,
    },
    repair,
  )
  if (repair && workspaceId === undefined) await completeRollups(platform)
}

async function repairMonth(platform: Handles, findings: RollupFinding[]): Promise<RollupFinding[]> {
  const [first] = findings
  if (first) await repairRollups(platform, { workspaceIds: listWorkspaces(findings), month: first.month })
  return findings.map((finding) => ({ ...finding, repaired: true }))
}

function listWorkspaces(findings: RollupFinding[]): string[] {
  return [...new Set(findings.map(({ workspaceId }) => workspaceId))]
}

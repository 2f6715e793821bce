import { pauseIngest } from '../features/ingest/service.ts'
import { correctClicks } from '../features/links/service.ts'
import { keepCounts, peopleByLink } from '../features/rollups/service.ts'
import { compare, type Handles, joinByBucket } from './compare.ts'
import { type FoundLink, foundLink, type LinkOptions, linkBucket, readLinks } from './links.ts'

/** With `keep`, a repair does not lower a counter: clicks without rows are recorded as counted. */
type Options = LinkOptions & { repair?: boolean | 'keep' }

/** A link whose click counter differs from its ClickHouse rows, or with doubled rows. `rows` includes expired rows. */
export type Finding = FoundLink & {
  counter: number | null
  rows: number
  doubled: number
  lastClicked: Date | null
  repaired: boolean
}

const highestNumber = 2n ** 64n - 1n

/** Compares links' click counters with their rows in ClickHouse, some thousand links at a time. */
export function reconcileClicks(platform: Handles, options: Options) {
  return compare(
    platform,
    {
      first: -1n,
      read: (platform: Handles, after: bigint) => readClicks(platform, options, after),
      findBucket: linkBucket,
      pause: (platform, suspects, work) => {
        const workspaceIds = suspects.map(({ workspaceId }) => workspaceId)
        return pauseIngest(platform, workspaceIds, work)
      },
      repair: (platform, findings) => repairClicks(platform, findings, options.repair === 'keep'),
    },
    options.repair !== undefined && options.repair !== false,
  )
}

/** Reads counters first, then rows: only the rows can be ahead, by the batch that is being stored. */
async function readClicks(platform: Handles, options: Options, after: bigint) {
  const { links, range, progress } = await readLinks(platform, options, after, highestNumber)
  const people = await peopleByLink(platform, range)
  const findings = joinByBucket({ link: links, stored: people }, linkBucket).flatMap(({ link, stored }): Finding[] => {
    const counter = link?.clicks ?? null
    const { rows = 0, doubled = 0, last = null } = stored ?? {}
    if (counter === rows && doubled === 0) return []
    return [{ ...foundLink(link, stored), counter, rows, doubled, lastClicked: last, repaired: false }]
  })
  return { ...progress, findings }
}

async function repairClicks(platform: Handles, findings: Finding[], keep: boolean): Promise<Finding[]> {
  const wrong = findings.filter((finding) => finding.linkId !== null && isWrong(finding))
  const { kept: retained = [], set = [] } = Object.groupBy(wrong, ({ counter, rows }) =>
    keep && (counter ?? 0) > rows ? 'kept' : 'set',
  )
  const counts = set.map(({ workspaceId, linkNumber, rows, doubled, lastClicked }) => ({
    workspace_id: workspaceId,
    link_number: linkNumber,
    clicks: rows - doubled,
    last_clicked: lastClicked,
  }))
  if (counts.length > 0) await correctClicks(platform, counts)
  const rowless = retained.map(({ workspaceId, linkNumber, counter, rows }) => ({
    workspace_id: workspaceId,
    link_number: linkNumber,
    clicks: (counter ?? 0) - rows,
  }))
  await keepCounts(platform, rowless)
  return findings.map((finding) => ({ ...finding, repaired: wrong.includes(finding) }))
}

/** Whether a click counter is wrong. Doubled rows of a click count once. */
function isWrong({ counter, rows, doubled }: Finding): boolean {
  return counter !== rows - doubled
}

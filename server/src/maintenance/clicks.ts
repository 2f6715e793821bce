import { pauseIngest } from '../features/ingest/service.ts'
import { correctClicks } from '../features/links/service.ts'
import { keepCounts, peopleByLink } from '../features/rollups/service.ts'
import { compare, type Handles, joinByBucket } from './compare.ts'
import { type FoundLink, foundLink, type LinkOptions, linkBucket, readLinks } from './links.ts'

/** With `keep`, a counter that is too high stays: its missing clicks are counted without rows. */
type Options = LinkOptions & { repair?: boolean | 'keep' }

/** A link whose counter differs from its rows, or with doubled rows. `rows` includes expired counted rows. */
export type Finding = FoundLink & {
  counter: number | null
  rows: number
  doubled: number
  lastClicked: Date | null
  repaired: boolean
}

const highestNumber = 2n ** 64n - 1n

/** Compares link counters with click rows, some thousand links at a time. */
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

/** Reads the rows after the counters, so that only rows can be ahead, by the batch in progress. */
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

/** A click that is stored twice is one click: a counter is never set to the number of doubled rows. */
function isWrong({ counter, rows, doubled }: Finding): boolean {
  return counter !== rows - doubled
}

import { pauseIngest } from '../features/ingest/service.ts'
import { correctClicks, countedLinks } from '../features/links/service.ts'
import { keepCounts, peopleByLink } from '../features/rollups/service.ts'
import { sleep } from '../platform/clock.ts'
import type { Platform } from '../platform/context.ts'

type Handles = Pick<Platform, 'config' | 'db' | 'clickhouse'>
/** With `keep`, a counter that is too high stays: what is missing is counted without rows. */
type Options = { workspaceId?: string; repair?: boolean | 'keep'; linksAtOnce?: number }

/**
 * A link whose counter is not what is stored, or that has rows twice. Without id: rows of a link that does not exist.
 * `rows` has those that have expired since they were counted.
 */
export type Finding = {
  linkId: string | null
  linkNumber: string
  workspaceId: string
  address: string | null
  counter: number | null
  rows: number
  doubled: number
  lastClicked: Date | null
  repaired: boolean
}
export type Step = { links: number; findings: Finding[]; percent: number }
type Chunk = { links: number; findings: Finding[]; highest: bigint; last: bigint | undefined }

const highestNumber = 2n ** 64n - 1n
const recheckAfterMs = 2_000

/** Compares the counters of links with their rows, some thousand links at a time. */
export async function* reconcile(platform: Handles, options: Options): AsyncGenerator<Step> {
  let after = -1n
  for (;;) {
    let chunk = await readChunk(platform, options, after)
    if (chunk.findings.some(isWrong)) chunk = await lookAgain(platform, options, after, chunk)
    const percent = chunk.last === undefined ? 100 : Number((chunk.last * 100n) / (chunk.highest || 1n))
    yield { links: chunk.links, findings: chunk.findings, percent }
    if (chunk.last === undefined) return
    after = chunk.last
  }
}

/** The rows are read after the counters: then only rows can be ahead, by the batch under way. */
async function readChunk(platform: Handles, options: Options, after: bigint): Promise<Chunk> {
  const { workspaceId, linksAtOnce = 10_000 } = options
  const { links, highest } = await countedLinks(platform, { workspaceId, after, count: linksAtOnce })
  const last = links.length < linksAtOnce ? undefined : links.at(-1)?.number
  const range = { workspaceId, first: after + 1n, last: last ?? highestNumber }
  const people = new Map((await peopleByLink(platform, range)).map((link) => [nameOf(link), link]))
  const findings: Finding[] = []
  for (const { number: linkNumber, id, workspaceId, address, clicks } of links) {
    const name = nameOf({ workspaceId, linkNumber })
    const { rows = 0, doubled = 0, last = null } = people.get(name) ?? {}
    people.delete(name)
    if (clicks === rows && doubled === 0) continue
    const link = { linkId: id, linkNumber: String(linkNumber), workspaceId, address, counter: clicks }
    findings.push({ ...link, rows, doubled, lastClicked: last, repaired: false })
  }
  for (const { workspaceId, linkNumber, rows, doubled, last } of people.values()) {
    const link = { linkId: null, linkNumber: String(linkNumber), workspaceId, address: null, counter: null }
    findings.push({ ...link, rows, doubled, lastClicked: last, repaired: false })
  }
  return { links: links.length, findings, highest, last }
}

/** What differs only because a batch was under way is gone when its partition stands still. */
async function lookAgain(platform: Handles, options: Options, after: bigint, before: Chunk): Promise<Chunk> {
  await sleep(recheckAfterMs)
  const known = new Set(before.findings.map(nameOf))
  const workspaces = before.findings.map(({ workspaceId }) => workspaceId)
  return pauseIngest(platform, workspaces, async (platform, isStill) => {
    const chunk = await readChunk(platform, options, after)
    const found = chunk.findings.filter((finding) => known.has(nameOf(finding)))
    const findings = options.repair && isStill ? await repair(platform, found, options.repair === 'keep') : found
    return { ...chunk, findings }
  })
}

async function repair(platform: Handles, findings: Finding[], keep: boolean): Promise<Finding[]> {
  const mendable = findings.filter((finding) => finding.linkId !== null && isWrong(finding))
  const { kept = [], set = [] } = Object.groupBy(mendable, ({ counter, rows }) =>
    keep && (counter ?? 0) > rows ? 'kept' : 'set',
  )
  const counts = set.map(({ workspaceId, linkNumber, rows, doubled, lastClicked }) => ({
    workspace_id: workspaceId,
    link_number: linkNumber,
    clicks: rows - doubled,
    last_clicked: lastClicked,
  }))
  if (counts.length > 0) await correctClicks(platform, counts)
  const rowless = kept.map(({ workspaceId, linkNumber, counter, rows }) => ({
    workspace_id: workspaceId,
    link_number: linkNumber,
    clicks: (counter ?? 0) - rows,
  }))
  await keepCounts(platform, rowless)
  return findings.map((finding) => ({ ...finding, repaired: mendable.includes(finding) }))
}

/** A click that is stored twice is one click: a counter is never set to the number of doubled rows. */
function isWrong({ counter, rows, doubled }: Finding): boolean {
  return counter !== rows - doubled
}

function nameOf({ workspaceId, linkNumber }: { workspaceId: string; linkNumber: string | bigint }): string {
  return `${workspaceId} ${linkNumber}`
}

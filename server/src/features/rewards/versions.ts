import type { RewardEventName } from '@tributary/contract/reward-terms'
import type { Db } from '../../platform/postgres.ts'
import { selectApplicable, selectBoundVersions, selectSpans, type VersionRow } from './store.ts'
import { type Binding, type Choice, parseTerms, type RewardVersion } from './terms.ts'
import type { Span, Timeline, Timelines } from './timeline.ts'

// A worker that loads more at once would run out of memory. Its caller then decides fewer events at once.
const mostCharacters = 8_000_000

export type Choices = Record<RewardEventName, Choice>

/** The current versions for new customers of each partner, by partner number and event. */
export async function loadChoices(
  db: Db,
  workspaceId: string,
  partners: { number: bigint; groupNumber: bigint }[],
): Promise<Map<bigint, Choices>> {
  const groups = [...new Set(partners.map(({ groupNumber }) => groupNumber))]
  const found = await selectApplicable(db, workspaceId, { groups, partners: partners.map(({ number }) => number) })
  const versions = new Map(
    found.map(({ reward, version }) => {
      const owner = reward.partner_number === null ? `group ${reward.group_number}` : `partner ${reward.partner_number}`
      return [`${owner} ${reward.event}`, readVersion(version)]
    }),
  )
  return new Map(
    partners.map(({ number, groupNumber }) => {
      const choose = (event: RewardEventName): Choice => ({
        partner: versions.get(`partner ${number} ${event}`) ?? null,
        group: versions.get(`group ${groupNumber} ${event}`) ?? null,
      })
      return [number, { click: choose('click'), lead: choose('lead'), sale: choose('sale') }]
    }),
  )
}

/** The versions that were current during a period, of each partner, by partner number and event. */
export async function loadTimelines(
  db: Db,
  workspaceId: string,
  partners: { number: bigint; groupNumber: bigint }[],
  period: { first: Date; last: Date },
): Promise<Map<bigint, Timelines>> {
  const groups = [...new Set(partners.map(({ groupNumber }) => groupNumber))]
  const of = { groups, partners: partners.map(({ number }) => number) }
  const spans = new Map<string, Span[]>()
  const rows = await selectSpans(db, workspaceId, of, { ...period, mostCharacters })
  requireTerms(rows)
  for (const row of rows) {
    const owner = row.partner_number === null ? `group ${row.group_number}` : `partner ${row.partner_number}`
    const key = `${owner} ${row.event}`
    const span = { version: readVersion(row), until: row.until }
    const known = spans.get(key)
    if (known) known.push(span)
    else spans.set(key, [span])
  }
  return new Map(
    partners.map(({ number, groupNumber }) => {
      const find = (event: RewardEventName): Timeline => ({
        partner: spans.get(`partner ${number} ${event}`) ?? [],
        group: spans.get(`group ${groupNumber} ${event}`) ?? [],
      })
      return [number, { click: find('click'), lead: find('lead'), sale: find('sale') }]
    }),
  )
}

/** What each bound version governs, by its number: itself, and the later versions that apply to all. */
export async function loadBound(
  db: Db,
  workspaceId: string,
  numbers: bigint[],
): Promise<Map<bigint, Pick<Binding, 'version' | 'later'>>> {
  if (numbers.length === 0) return new Map()
  const asked = new Set(numbers)
  const rows = await selectBoundVersions(db, workspaceId, [...asked], mostCharacters)
  requireTerms(rows)
  const versions = rows.map(readVersion)
  const byReward = Map.groupBy(versions, ({ rewardNumber }) => rewardNumber)
  const bound = versions.filter(({ number }) => asked.has(number))
  return new Map(
    bound.map((version) => {
      const ofReward = byReward.get(version.rewardNumber) ?? []
      const later = ofReward.filter((other) => other.version > version.version && other.appliesToAll)
      return [version.number, { version, later }]
    }),
  )
}

function requireTerms(rows: VersionRow[]): void {
  if (rows[0]?.terms === null)
    throw new RangeError(`The terms of ${rows.length} versions are too large to load at once`)
}

function readVersion(row: VersionRow): RewardVersion {
  return {
    number: row.number,
    rewardNumber: row.reward_number,
    rewardId: row.reward_id,
    version: row.version,
    terms: parseTerms(row.terms),
    appliesToAll: row.applies_to_all,
    createdAt: row.created_at,
  }
}

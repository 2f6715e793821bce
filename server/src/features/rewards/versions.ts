import type { RewardEventName } from '@tributary/contract/reward-terms'
import type { Db } from '../../platform/postgres.ts'
import {
  type RewardRow,
  selectApplicable,
  selectApplicableVersions,
  selectBoundVersions,
  selectSpans,
  type VersionRow,
} from './store.ts'
import { type Binding, type Choice, parseTerms, type RewardVersion } from './terms.ts'
import type { Span, Timeline, Timelines } from './timeline.ts'

// A worker that loads more at once would run out of memory. Its caller then decides fewer events at once.
const most = { mostCharacters: 8_000_000, count: 20_000 }

type Member = { number: bigint; groupNumber: bigint }

/** The ids of the rewards for new customers of each partner, by partner number. Its own come before its group's. */
export async function loadRewardIds(
  db: Db,
  workspaceId: string,
  partners: Member[],
): Promise<Map<bigint, Partial<Record<RewardEventName, string>>>> {
  const found = await selectApplicable(db, workspaceId, listOwners(partners))
  const ids = new Map(found.map((reward) => [ownerKey(reward), reward.id]))
  return new Map(
    partners.map(({ number, groupNumber }) => {
      const find = (event: RewardEventName) =>
        ids.get(`partner ${number} ${event}`) ?? ids.get(`group ${groupNumber} ${event}`)
      return [number, { click: find('click'), lead: find('lead'), sale: find('sale') }]
    }),
  )
}

/** The current versions for new customers' sales, by partner number; undefined when they are too large to load at once. */
export async function loadChoices(
  db: Db,
  workspaceId: string,
  partners: Member[],
): Promise<Map<bigint, Choice> | undefined> {
  const asked = { ...listOwners(partners), event: 'sale' as const, mostCharacters: most.mostCharacters }
  const found = await selectApplicableVersions(db, workspaceId, asked)
  if (!found) return undefined
  const versions = new Map(found.map(({ reward, version }) => [ownerKey(reward), readVersion(version)]))
  return new Map(
    partners.map(({ number, groupNumber }) => {
      const [partner, group] = [versions.get(`partner ${number} sale`), versions.get(`group ${groupNumber} sale`)]
      return [number, { partner: partner ?? null, group: group ?? null }]
    }),
  )
}

function listOwners(partners: Member[]): { groups: bigint[]; partners: bigint[] } {
  const groups = [...new Set(partners.map(({ groupNumber }) => groupNumber))]
  return { groups, partners: partners.map(({ number }) => number) }
}

function ownerKey({
  group_number,
  partner_number,
  event,
}: Pick<RewardRow, 'group_number' | 'partner_number' | 'event'>): string {
  return `${partner_number === null ? `group ${group_number}` : `partner ${partner_number}`} ${event}`
}

/** The versions that were current during a period, of each partner, by partner number and event. */
export async function loadTimelines(
  db: Db,
  workspaceId: string,
  partners: Member[],
  period: { first: Date; last: Date },
): Promise<Map<bigint, Timelines>> {
  const spans = new Map<string, Span[]>()
  const rows = await selectSpans(db, workspaceId, listOwners(partners), { ...period, ...most })
  requireTerms(rows)
  for (const row of rows) {
    const key = ownerKey(row)
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
  const rows = await selectBoundVersions(db, workspaceId, [...asked], most)
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
  if (rows[0]?.terms === null || rows.length === most.count)
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

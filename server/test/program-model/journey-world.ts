import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { storeTerms } from '../../src/features/rewards/terms.ts'
import type { Ctx, Platform } from '../../src/platform/context.ts'
import { buildProgram } from '../program.ts'
import type { Journey, JourneyGroup, Owner, Program } from './journey.ts'

export type WorldPartner = { id: string; number: bigint; link: { number: bigint; partnerId: string } }
export type WorldCustomer = { id: string; externalId: string; isTracked: boolean; hasLead: boolean }
/** The product's side of a journey: what exists before its first step. */
export type World = {
  ctx: Ctx
  groups: { id: string; number: bigint }[]
  partners: WorldPartner[]
  customers: WorldCustomer[]
  /** Ids of the rewards that are in force, by owner and event, and of all that were made. */
  rewards: Map<string, string>
  rewardIds: string[]
  /** How many leads, sales and refunds are recorded. */
  events: number
}

const dayMs = 24 * 3_600_000

/** Builds a workspace with a program, and in one statement each: the groups, partners, links and so on of all journeys. */
export async function buildWorlds(platform: Platform, program: Program): Promise<World[]> {
  const { ctx, workspace } = await buildProgram(platform, { currency: program.programCurrency })
  await sql`UPDATE workspaces SET currency = ${program.workspaceCurrency} WHERE id = ${workspace.id}`.execute(ctx.db)
  const worlds = program.journeys.map((journey): World => {
    const id = randomUUID()
    const groups = journey.groups.map((_, index) => ({ id: `grp_${index}_${id}`, number: 0n }))
    const partners = journey.partners.map((_, index) => {
      const partnerId = `pn_${index}_${id}`
      return { id: partnerId, number: 0n, link: { number: 0n, partnerId } }
    })
    const customers = journey.customers.map(({ trackedBy }, index) => {
      const name = `${index}_${id}`
      return { id: `cus_${name}`, externalId: name, isTracked: trackedBy !== null, hasLead: false }
    })
    return { ctx, groups, partners, customers, rewards: new Map(), rewardIds: [], events: 0 }
  })
  await addGroups(ctx, worlds, program)
  await addPartners(ctx, worlds, program, workspace.domain)
  await addCustomers(ctx, worlds, program)
  await addRewards(ctx, worlds, program)
  return worlds
}

/** The rows of a kind, of all journeys. */
function gather<Row>(worlds: World[], { journeys }: Program, build: (world: World, journey: Journey) => Row[]): string {
  return JSON.stringify(worlds.flatMap((world, index) => build(world, journeys[index] as Journey)))
}

async function addGroups({ db, workspaceId }: Ctx, worlds: World[], program: Program): Promise<void> {
  const rows = gather(worlds, program, ({ groups }, journey) =>
    journey.groups.map(({ delayDays, moveRules }, index) => ({
      id: groups[index]?.id,
      days: delayDays,
      rules: describeRules(
        moveRules,
        groups.map(({ id }) => id),
      ),
    })),
  )
  const result = await sql<{ id: string; number: bigint }>`
    INSERT INTO partner_groups (id, workspace_id, name, slug, holding_period_days, move_rules)
    SELECT id, ${workspaceId}, 'Group', id, days, rules
    FROM jsonb_to_recordset(${rows}::jsonb) AS new (id text, days int, rules jsonb) ORDER BY id
    RETURNING id, number`.execute(db)
  const numbers = new Map(result.rows.map(({ id, number }) => [id, number]))
  for (const group of worlds.flatMap(({ groups }) => groups)) group.number = numbers.get(group.id) ?? 0n
}

/** Partners of other journeys never join. */
function describeRules(rules: JourneyGroup['moveRules'], groupIds: string[]) {
  if (rules.length === 0) return []
  const described = rules.map(({ attribute, min, max }) => {
    if (max === undefined) return { attribute, operator: 'gte', value: min }
    return { attribute, operator: 'between', value: { min, max } }
  })
  return [...described, { attribute: 'groupId', operator: 'in', value: groupIds }]
}

async function addPartners({ db, workspaceId }: Ctx, worlds: World[], program: Program, domain: string) {
  const rows = gather(worlds, program, ({ groups, partners }, journey) =>
    journey.partners.map(({ group, country }, index) => ({
      id: partners[index]?.id,
      group: Number(groups[group % groups.length]?.number),
      country,
    })),
  )
  const result = await sql<{ id: string; number: bigint; link: bigint }>`
    WITH new AS (SELECT * FROM jsonb_to_recordset(${rows}::jsonb) AS new (id text, "group" bigint, country text) ORDER BY id),
      added AS (INSERT INTO partners (id, workspace_id, group_number, status, name, email, country)
        SELECT id, ${workspaceId}, "group", 'approved', 'Ada', id || '@example.com', country FROM new RETURNING id, number),
      totals AS (INSERT INTO partner_totals (partner_number, workspace_id) SELECT number, ${workspaceId} FROM added),
      made AS (INSERT INTO links (id, workspace_id, domain, key, lookup_key, url, track_conversion, partner_id)
        SELECT id, ${workspaceId}, ${domain}, id, id, 'https://example.com', true, id FROM new RETURNING id, number)
    SELECT added.id, added.number, made.number AS link FROM added JOIN made ON made.id = added.id`.execute(db)
  const found = new Map(result.rows.map((row) => [row.id, row]))
  for (const partner of worlds.flatMap(({ partners }) => partners)) {
    partner.number = found.get(partner.id)?.number ?? 0n
    partner.link.number = found.get(partner.id)?.link ?? 0n
  }
}

async function addCustomers({ db, workspaceId }: Ctx, worlds: World[], program: Program): Promise<void> {
  const startsAt = new Date(program.startsAt)
  const rows = gather(worlds, program, ({ customers, partners }, journey) =>
    journey.customers.map(({ country, signupDays, trackedBy, sameEmailAs }, index) => ({
      id: customers[index]?.id,
      external: customers[index]?.externalId,
      country: trackedBy === null ? country : (country ?? 'FR'),
      at: new Date(startsAt.getTime() - signupDays * dayMs),
      link: trackedBy === null ? null : Number(partners[trackedBy % partners.length]?.link.number),
      email: sameEmailAs === null ? null : `${partners[sameEmailAs % partners.length]?.id}@EXAMPLE.com`,
    })),
  )
  await sql`INSERT INTO customers (id, workspace_id, external_id, name, email, country, created_at, click_id, link_number)
    SELECT id, ${workspaceId}, external, 'Grace', email, country, at, CASE WHEN link IS NOT NULL THEN 'first' END, link
    FROM jsonb_to_recordset(${rows}::jsonb)
      AS new (id text, external text, country text, at timestamptz, link bigint, email text)`.execute(db)
}

async function addRewards({ db, workspaceId }: Ctx, worlds: World[], program: Program): Promise<void> {
  const rows = gather(worlds, program, (world, { opening }) =>
    opening.map(({ owner, terms }) => {
      const id = `rw_${randomUUID()}`
      const resolved = resolveOwner(world, owner)
      world.rewards.set(ownerKey(resolved, terms.event), id)
      world.rewardIds.push(id)
      const group = 'group' in resolved ? Number(world.groups[resolved.group]?.number) : null
      const partner = 'partner' in resolved ? Number(world.partners[resolved.partner]?.number) : null
      return { id, group, partner, event: terms.event, terms: storeTerms(terms) }
    }),
  )
  await sql`WITH new AS (SELECT * FROM jsonb_to_recordset(${rows}::jsonb)
        AS new (id text, "group" bigint, partner bigint, event text, terms jsonb)),
      made AS (INSERT INTO rewards (id, workspace_id, group_number, partner_number, event, created_at)
        SELECT id, ${workspaceId}, "group", partner, event, ${program.startsAt}::timestamptz FROM new RETURNING id, number)
    INSERT INTO reward_versions (reward_number, workspace_id, version, terms, actor, created_at)
    SELECT made.number, ${workspaceId}, 1, new.terms, 'test', ${program.startsAt}::timestamptz
    FROM made JOIN new ON new.id = made.id`.execute(db)
}

export function ownerKey(owner: Owner, event: string): string {
  return `${JSON.stringify(owner)} ${event}`
}

function resolveOwner({ groups, partners }: World, owner: Owner): Owner {
  if ('group' in owner) return { group: owner.group % groups.length }
  return { partner: owner.partner % partners.length }
}

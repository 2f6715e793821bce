import { type RewardInput, rewardInput } from '@tributary/contract/reward-terms'
import type {
  NewReward,
  PresentedVersion,
  Reward,
  RewardPatch,
  RewardsQuery,
  RewardVersionsQuery,
} from '@tributary/contract/rewards'
import { type Ctx, formatActor } from '../../platform/context.ts'
import { conflict, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { parse } from '../../platform/validation.ts'
import { groupsByNumber, requireGroup } from '../groups/service.ts'
import { lockPartners, partnersByNumber, recordActivities, requirePartner } from '../partners/service.ts'
import { requireProgram } from '../programs/service.ts'
import {
  archiveReward,
  type CurrentReward,
  countRewards,
  insertReward,
  insertVersion,
  measureVersions,
  type Page,
  selectReward,
  selectRewards,
  selectVersions,
} from './store.ts'
import { presentTerms, storeTerms } from './terms.ts'

// One event reads all versions of its customer's reward, and a worker has memory for a few million characters.
const mostVersions = 1_000
const mostCharacters = 4_000_000
/** Rewards that a group or partner may have had for an event, with deleted ones. */
const mostRewards = 100

export async function listRewards(ctx: Ctx, query: RewardsQuery): Promise<Reward[]> {
  await requireProgram(ctx)
  const group = query.groupId ? await requireGroup(ctx, query.groupId) : undefined
  const partner = query.partnerId ? await requirePartner(ctx, { partnerId: query.partnerId }) : undefined
  const filter = { groupNumber: group?.number, partnerNumber: partner?.number, event: query.event }
  const found = await selectRewards(ctx.db, ctx.workspaceId, filter, readPage(query))
  return presentAll(ctx, found)
}

export async function getReward(ctx: Ctx, id: string): Promise<Reward> {
  return present(ctx, await requireReward(ctx, id))
}

export async function createReward(ctx: Ctx, { groupId, partnerId, ...terms }: NewReward): Promise<Reward> {
  return transaction(ctx, async (ctx) => {
    await requireProgram(ctx)
    const partner = partnerId ? await requirePartner(ctx, { partnerId }) : undefined
    if (partner) await lockPartners(ctx.db, ctx.workspaceId, [partner.number])
    const group = partner ? undefined : await requireGroup(ctx, groupId as string)
    const owner = partner ? `partner ${partnerId}` : `group ${groupId}`
    const owned = { group_number: group?.number ?? null, partner_number: partner?.number ?? null, event: terms.event }
    if ((await countRewards(ctx.db, ctx.workspaceId, owned)) >= mostRewards) {
      throw conflict(
        `The ${owner} has had ${mostRewards} ${terms.event} rewards, which is the limit. Create another group, and change its rewards with PATCH /rewards/{id} instead of replacing them.`,
      )
    }
    const reward = await insertReward(ctx.db, { id: newId('rw'), workspace_id: ctx.workspaceId, ...owned })
    if (!reward) {
      throw conflict(`The ${owner} has a ${terms.event} reward already. Change it with PATCH /rewards/{id}.`)
    }
    const version = await insertVersion(ctx.db, ctx.workspaceId, reward, {
      version: 1,
      terms: storeTerms(terms),
      appliesToAll: false,
      actor: formatActor(ctx.actor),
      at: ctx.now(),
    })
    await recordChange(ctx, { reward, version }, 'created')
    return present(ctx, { reward, version })
  })
}

/** Makes a new version, unless the patch changes nothing. */
export async function updateReward(ctx: Ctx, id: string, { applyTo, ...patch }: RewardPatch): Promise<Reward> {
  return transaction(ctx, async (ctx) => {
    const current = await requireReward(ctx, id)
    const { reward, version } = current
    const terms = storeTerms(mergeTerms(current, patch))
    const appliesToAll = applyTo === 'allFutureSales'
    const isSame = JSON.stringify(terms) === JSON.stringify(storeTerms(mergeTerms(current, {})))
    if (isSame && (!appliesToAll || version.applies_to_all)) return present(ctx, current)
    if (version.version >= mostVersions) {
      throw conflict(`This reward has ${mostVersions} versions, which is the limit. Delete it and create another.`)
    }
    const characters = (await measureVersions(ctx.db, ctx.workspaceId, reward)) + JSON.stringify(terms).length
    if (characters > mostCharacters) {
      throw conflict(
        `The versions of this reward would have ${characters} characters together, and ${mostCharacters} are the limit. Delete it and create another.`,
      )
    }
    const actor = formatActor(ctx.actor)
    const row = { version: version.version + 1, terms, appliesToAll, actor, at: ctx.now() }
    const changed = { reward, version: await insertVersion(ctx.db, ctx.workspaceId, reward, row) }
    reportChange(ctx, {
      id,
      before: { terms: version.terms, version: version.version },
      after: { terms, appliesToAll },
    })
    await recordChange(ctx, changed, 'updated')
    return present(ctx, changed)
  })
}

/** Ends the reward for new customers. Its versions stay, because customers and commissions refer to them. */
export async function deleteReward(ctx: Ctx, id: string): Promise<{ id: string }> {
  return transaction(ctx, async (ctx) => {
    const current = await requireReward(ctx, id)
    await archiveReward(ctx.db, ctx.workspaceId, id)
    await recordChange(ctx, current, 'deleted')
    return { id }
  })
}

export async function listRewardVersions(
  ctx: Ctx,
  id: string,
  query: RewardVersionsQuery,
): Promise<PresentedVersion[]> {
  const found = await selectReward(ctx.db, ctx.workspaceId, id)
  if (!found) throw notFound('reward', id)
  const versions = await selectVersions(ctx.db, ctx.workspaceId, found.reward, readPage(query))
  return versions.map((row) => ({
    version: row.version,
    applyTo: row.applies_to_all ? 'allFutureSales' : 'newCustomers',
    ...presentTerms(row.terms),
    createdAt: row.created_at.toISOString(),
    createdBy: row.actor,
  }))
}

async function requireReward(ctx: Ctx, id: string): Promise<CurrentReward> {
  const found = await selectReward(ctx.db, ctx.workspaceId, id)
  if (!found || found.reward.archived_at) throw notFound('reward', id)
  return found
}

/** The current terms with the changes. A new type drops the amount of the old one, and no limit drops its interval. */
function mergeTerms({ version }: CurrentReward, patch: Omit<RewardPatch, 'applyTo'>): RewardInput {
  const { amountInCents, amountInPercentage, ...current } = presentTerms(version.terms)
  const amounts = patch.type === undefined || patch.type === current.type ? { amountInCents, amountInPercentage } : {}
  const limit = patch.spendLimitAmount === null ? { spendLimitInterval: null, spendLimitScope: null } : {}
  return parse(rewardInput, { ...current, ...amounts, ...limit, ...patch }, 'body')
}

/** Rewards of a partner are part of its history. */
async function recordChange(ctx: Ctx, { reward, version }: CurrentReward, change: string): Promise<void> {
  if (reward.partner_number === null) return
  const detail = { rewardId: reward.id, event: reward.event, version: version.version, change }
  await recordActivities(ctx, [{ partnerNumber: reward.partner_number, kind: 'reward', detail }])
}

async function present(ctx: Ctx, current: CurrentReward): Promise<Reward> {
  return (await presentAll(ctx, [current]))[0] as Reward
}

async function presentAll(ctx: Ctx, found: CurrentReward[]): Promise<Reward[]> {
  const groups = await groupsByNumber(
    ctx,
    found.flatMap(({ reward }) => reward.group_number ?? []),
  )
  const partners = await partnersByNumber(
    ctx,
    found.flatMap(({ reward }) => reward.partner_number ?? []),
  )
  return found.map(({ reward, version }) => ({
    id: reward.id,
    groupId: (reward.group_number && groups.get(reward.group_number)?.id) || null,
    partnerId: (reward.partner_number && partners.get(reward.partner_number)?.id) || null,
    version: version.version,
    ...presentTerms(version.terms),
    createdAt: reward.created_at.toISOString(),
    updatedAt: version.created_at.toISOString(),
  }))
}

function readPage({ page, pageSize, sortOrder }: Pick<RewardsQuery, 'page' | 'pageSize' | 'sortOrder'>): Page {
  return { count: pageSize, offset: (page - 1) * pageSize, ascending: sortOrder === 'asc' }
}

import { z } from 'zod'
import { instant, listing } from './common.ts'
import { operation } from './operation.ts'
import { checkTerms, presentedTerms, rewardEvents, rewardTerms } from './reward-terms.ts'

export const applications = ['newCustomers', 'allFutureSales'] as const
const applyTo = z
  .enum(applications)
  .describe(
    '`newCustomers`: customers with a sale keep their terms. `allFutureSales`: the new terms apply to them too, but never reopen a window that has ended.',
  )

export const reward = z
  .strictObject({
    id: z.string(),
    groupId: z.string().nullable(),
    partnerId: z.string().nullable(),
    version: z.number().int().describe('Number of the current version, from 1.'),
    ...presentedTerms,
    createdAt: instant,
    updatedAt: instant.describe('When the current version was made.'),
  })
  .meta({ id: 'Reward' })
export type Reward = z.infer<typeof reward>

export const rewardVersion = z
  .strictObject({
    version: z.number().int(),
    applyTo,
    ...presentedTerms,
    createdAt: instant,
    createdBy: z.string().describe('Who made this version, such as `key key_123`.'),
  })
  .meta({ id: 'RewardVersion' })
export type PresentedVersion = z.infer<typeof rewardVersion>

const owner = {
  groupId: z.string().max(100).nullish().describe('Group whose partners get the reward.'),
  partnerId: z.string().max(100).nullish().describe("Partner who gets the reward instead of its group's."),
}
const event = z.enum(rewardEvents).describe('Event that is rewarded. A group or partner has one reward per event.')

function checkOwner({ groupId, partnerId }: { groupId?: string | null; partnerId?: string | null }, context: Context) {
  if (Boolean(groupId) !== Boolean(partnerId)) return
  const message = 'a reward has either a group or a partner'
  context.addIssue({ code: 'custom', path: [partnerId ? 'partnerId' : 'groupId'], message })
}
type Context = z.core.$RefinementCtx

export const newReward = z
  .object({ ...owner, event, ...rewardTerms })
  .superRefine(checkOwner)
  .superRefine(checkTerms)
  .meta({ id: 'NewReward' })
export type NewReward = z.output<typeof newReward>

export const rewardPatch = z
  .object({ ...rewardTerms, type: rewardTerms.type.optional(), applyTo: applyTo.default('newCustomers') })
  .meta({ id: 'RewardPatch' })
export type RewardPatch = z.output<typeof rewardPatch>

const params = z.object({ id: z.string().describe('Id of the reward.') })
const shared = { tag: 'Rewards' } as const

export const listRewards = operation({
  ...shared,
  id: 'listRewards',
  method: 'get',
  path: '/rewards',
  summary: 'List rewards',
  description: 'Lists the rewards of groups and partners.',
  scope: 'partners.read',
  query: z.object({
    groupId: z.string().max(100).optional(),
    partnerId: z.string().max(100).optional(),
    event: z.enum(rewardEvents).optional(),
    ...listing(100, ['createdAt'], 'desc'),
  }),
  response: z.array(reward),
})
export type RewardsQuery = z.output<typeof listRewards.query>

export const createReward = operation({
  ...shared,
  id: 'createReward',
  method: 'post',
  path: '/rewards',
  summary: 'Create a reward',
  description: 'Creates a reward of a group, or of one partner instead of its group.',
  scope: 'partners.write',
  body: newReward,
  status: 201,
  response: reward,
})

export const getReward = operation({
  ...shared,
  id: 'getReward',
  method: 'get',
  path: '/rewards/{id}',
  summary: 'Get a reward',
  description: 'Returns a reward with its current terms.',
  scope: 'partners.read',
  params,
  response: reward,
})

export const updateReward = operation({
  ...shared,
  id: 'updateReward',
  method: 'patch',
  path: '/rewards/{id}',
  summary: 'Update a reward',
  description:
    'Makes a new version of the terms. Omitted fields stay unchanged; `modifiers` are replaced as a whole. Customers with a sale keep the version of their first sale unless `applyTo` says otherwise.',
  scope: 'partners.write',
  params,
  body: rewardPatch,
  response: reward,
})

export const deleteReward = operation({
  ...shared,
  id: 'deleteReward',
  method: 'delete',
  path: '/rewards/{id}',
  summary: 'Delete a reward',
  description: 'Deletes the reward for new customers. Customers with a sale keep their terms until their window ends.',
  scope: 'partners.write',
  params,
  response: z.strictObject({ id: z.string() }),
})

export const listRewardVersions = operation({
  ...shared,
  id: 'listRewardVersions',
  method: 'get',
  path: '/rewards/{id}/versions',
  summary: 'List the versions of a reward',
  description: 'Lists all versions of the terms, also of a deleted reward.',
  scope: 'partners.read',
  params,
  query: z.object(listing(100, ['createdAt'], 'desc')),
  response: z.array(rewardVersion),
})
export type RewardVersionsQuery = z.output<typeof listRewardVersions.query>

const period = {
  start: z.iso.datetime({ offset: true }).describe('Start of the period as ISO 8601.'),
  end: z.iso.datetime({ offset: true }).optional().describe('End of the period, at most a year later; now by default.'),
}
const simulationInput = z
  .object({ ...owner, ...rewardTerms, ...period })
  .superRefine(checkOwner)
  .superRefine((terms, context) => checkTerms({ ...terms, event: 'sale' }, context))
  .meta({ id: 'NewRewardSimulation' })
export type SimulationInput = z.output<typeof simulationInput>

const simulatedEarnings = {
  sales: z.number().int(),
  saleAmount: z.number(),
  current: z.number().describe('Earnings under the current terms.'),
  proposed: z.number().describe('Earnings under the proposed terms.'),
  difference: z.number().describe('Proposed minus current earnings.'),
}
export const rewardSimulation = z
  .strictObject({
    start: instant,
    end: instant,
    currency: z.string(),
    isComplete: z
      .boolean()
      .describe('Whether all partners and sales of the period are included. If not, choose a shorter period.'),
    ...simulatedEarnings,
    partners: z
      .array(z.strictObject({ partnerId: z.string(), name: z.string(), ...simulatedEarnings }))
      .describe('Partners with sales in the period, the largest difference first.'),
  })
  .meta({ id: 'RewardSimulation' })
export type RewardSimulation = z.infer<typeof rewardSimulation>

export const simulateReward = operation({
  ...shared,
  id: 'simulateReward',
  method: 'post',
  path: '/rewards/simulate',
  summary: 'Simulate a reward',
  description:
    'Applies proposed terms to past sales and compares the earnings with those under the current terms, as if each had always applied. Writes nothing. Includes the 1,000 partners of the group with the highest revenue and the first 10,000 of their sales.',
  scope: 'partners.read',
  limit: 'analytics',
  body: simulationInput,
  response: rewardSimulation,
})

import { z } from 'zod'
import { instant, listing, plainText } from './common.ts'
import { operation } from './operation.ts'
import { largestAmount, webUrl } from './programs.ts'
import { label } from './tags.ts'

const holdingPeriods = [0, 7, 14, 30, 60, 90] as const
const holdingPeriodDays = z
  .union(holdingPeriods.map((days) => z.literal(days)))
  .describe('Days that a commission is held before it is due.')

const defaultLink = z.strictObject({
  url: webUrl,
  domain: plainText(190).optional().describe("A domain of the workspace; the program's domain when omitted."),
})
const additionalLink = z.strictObject({
  domain: z
    .string()
    .trim()
    .toLowerCase()
    .max(253)
    .regex(/^[a-z0-9.-]+(:\d+)?$/, 'it is not a host name')
    .describe('Host that links of partners may lead to.'),
  validationMode: z
    .enum(['domain', 'exact'])
    .describe('`domain` allows every page of the host, `exact` only the page with this path and query.'),
  path: z.string().max(2_000).optional().describe('Path and query, for the mode `exact`.'),
})

const count = z.number().int().min(0).max(largestAmount)
const totals = z.enum(['totalLeads', 'totalConversions', 'totalSaleAmount', 'totalCommissions'])
export const moveRule = z
  .union([
    z.strictObject({ attribute: totals, operator: z.literal('gte'), value: count }),
    z.strictObject({
      attribute: totals,
      operator: z.literal('between'),
      value: z.strictObject({ min: count, max: count }),
    }),
    z.strictObject({
      attribute: z.literal('groupId'),
      operator: z.enum(['in', 'not_in']),
      value: z.array(z.string().max(100)).min(1).max(100),
    }),
  ])
  .meta({ id: 'MoveRule' })
export type MoveRule = z.infer<typeof moveRule>

export const group = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    color: z.string().nullable(),
    isDefault: z.boolean().describe('Whether new partners join this group, and partners of deleted groups.'),
    defaultLinks: z.array(defaultLink),
    additionalLinks: z.array(additionalLink),
    maxPartnerLinks: z.number().int(),
    holdingPeriodDays,
    autoApprove: z.boolean(),
    moveRules: z.array(moveRule),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'PartnerGroup' })
export type PartnerGroup = z.infer<typeof group>

const name = label(100)
const slug = z
  .string()
  .trim()
  .toLowerCase()
  .max(100)
  .regex(/^(?!grp_)[a-z0-9]+(?:-[a-z0-9]+)*$/, 'it must have letters, digits and single dashes')
  .describe('Name of the group in URLs, unique in the program.')
const settings = {
  color: plainText(50).nullable().optional(),
  defaultLinks: z.array(defaultLink).max(5).optional().describe('Links that each new partner of the group gets.'),
  additionalLinks: z
    .array(additionalLink)
    .max(100)
    .optional()
    .describe("Where links of partners may lead besides the program's and the default links' hosts."),
  maxPartnerLinks: z.number().int().min(0).max(1_000).optional().describe('Links that a partner may create.'),
  holdingPeriodDays: holdingPeriodDays.optional(),
  autoApprove: z.boolean().optional().describe('Approves applications as soon as their e-mail is confirmed.'),
  moveRules: z
    .array(moveRule)
    .max(20)
    .optional()
    .describe(
      'A partner whose totals meet all of these rules moves to this group, after the lead, sale, refund or commission that changed them. At most 100 groups have rules.',
    ),
}

export const newGroup = z.object({ name, slug, ...settings }).meta({ id: 'NewPartnerGroup' })
export type NewGroup = z.infer<typeof newGroup>

export const groupPatch = z
  .object({ name: name.optional(), slug: slug.optional(), ...settings })
  .meta({ id: 'PartnerGroupPatch' })
export type GroupPatch = z.infer<typeof groupPatch>

const params = z.object({ id: z.string().describe('Id of the group.') })

export const listGroups = operation({
  id: 'listPartnerGroups',
  method: 'get',
  path: '/groups',
  summary: 'List partner groups',
  description:
    'Lists the groups of the partner program. Partners of a group share rewards, discount, holding period and default links.',
  tag: 'Partner groups',
  scope: 'partners.read',
  query: z.object({ search: z.string().max(190).optional(), ...listing(50, ['createdAt', 'name'], 'asc') }),
  response: z.array(group),
})
export type GroupsQuery = z.output<typeof listGroups.query>

export const getGroup = operation({
  id: 'getPartnerGroup',
  method: 'get',
  path: '/groups/{id}',
  summary: 'Get a partner group',
  description: 'Returns a group with its default links, holding period and move rules.',
  tag: 'Partner groups',
  scope: 'partners.read',
  params,
  response: group,
})

export const createGroup = operation({
  id: 'createPartnerGroup',
  method: 'post',
  path: '/groups',
  summary: 'Create a partner group',
  description:
    'Creates a group of partners. Give it rewards with `POST /rewards`, and partners with `POST /groups/{id}/partners`.',
  tag: 'Partner groups',
  scope: 'partners.write',
  body: newGroup,
  status: 201,
  response: group,
})

export const updateGroup = operation({
  id: 'updatePartnerGroup',
  method: 'patch',
  path: '/groups/{id}',
  summary: 'Update a partner group',
  description:
    'Changes a group. Omitted fields stay unchanged; lists are replaced as a whole. A new holding period applies to later commissions.',
  tag: 'Partner groups',
  scope: 'partners.write',
  params,
  body: groupPatch,
  response: group,
})

export const deleteGroup = operation({
  id: 'deletePartnerGroup',
  method: 'delete',
  path: '/groups/{id}',
  summary: 'Delete a partner group',
  description: 'Deletes the group and moves its partners to the default group, which cannot be deleted.',
  tag: 'Partner groups',
  scope: 'partners.write',
  params,
  response: z.strictObject({ id: z.string() }),
})

export const addGroupPartners = operation({
  id: 'addPartnersToGroup',
  method: 'post',
  path: '/groups/{id}/partners',
  summary: 'Move partners to a group',
  description: 'Moves up to 1,000 partners to the group. If one of them does not exist, none moves.',
  tag: 'Partner groups',
  scope: 'partners.write',
  params,
  body: z.object({ partnerIds: z.array(z.string().max(100)).min(1).max(1_000) }).meta({ id: 'GroupPartners' }),
  response: z.strictObject({ count: z.number().int().describe('Partners that moved from another group.') }),
})

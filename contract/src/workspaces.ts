import { z } from 'zod'
import { instant, listing, plainText } from './common.ts'
import { operation, plans } from './operation.ts'
import { roles } from './permissions.ts'
import { label } from './tags.ts'

const ipStorages = ['full', 'truncated', 'none', 'eu-truncated'] as const

/** Slugs that would be mistaken for a page or a part of the product. */
export const reservedSlugs: ReadonlySet<string> = new Set(
  `about account accounts admin analytics api app apps assets audit auth billing blog cdn changelog commissions contact
  customers dashboard deleted developers docs domains download enterprise events folders groups healthz help home
  integrations invite invites ledger legal links login logout mail members metrics new null oauth onboarding partners
  payouts pricing privacy profile programs public qr readyz register rewards root security settings setup sign-in
  sign-out sign-up signin signout signup static stats status support system tags team teams terms tokens track
  tributary undefined usage user users webhooks workspace workspaces www`.split(/\s+/),
)

const name = label(64).describe('Name of the workspace.')
export const workspaceSlug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{2,47}$/, 'it must have 3 to 48 lower-case letters, digits and dashes')
  .refine((slug) => !reservedSlugs.has(slug), 'the word is reserved; choose another one')
  .describe('Short name for URLs, unique among all workspaces: 3 to 48 lower-case letters, digits and dashes.')

const settings = {
  logo: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .nullable()
    .describe('URL of the logo; null for none.'),
  defaultDomain: plainText(253)
    .nullable()
    .describe('Domain of new links that name none: the primary domain. Null for the shared short-link domain.'),
  timeZone: z
    .string()
    .max(64)
    .refine(isTimeZone, 'it is not an IANA time zone such as Europe/Berlin')
    .describe('IANA time zone in which the dashboard shows times.'),
  weekStart: z.number().int().min(0).max(6).describe('First day of the week; 0 is Sunday.'),
  currency: z
    .string()
    .regex(/^[a-z]{3}$/, 'it must be a code of three lower-case letters, such as usd')
    .describe('Currency that new sales are converted to.'),
  attributionDays: z
    .number()
    .int()
    .min(1)
    .max(3_650)
    .describe('Maximum age in days of a click that a lead is attributed to.'),
  attributionModel: z
    .enum(['first-click', 'last-click'])
    .describe('Which click of a customer a lead is attributed to.'),
  ipStorage: z
    .enum(ipStorages)
    .nullable()
    .describe("How much of a visitor's IP address is stored; null for the operator's setting IP_STORAGE."),
  allowedHostnames: z
    .array(plainText(253))
    .max(10)
    .describe('Hostnames whose pages may report events, such as `example.com` and `*.example.com`; empty allows all.'),
  contactEmail: z.email().max(254).nullable().describe('Recipient of e-mails about this workspace; null for nobody.'),
}

const unused = 'Has no meaning here; older SDKs expect it.'
const count = z.number().int()
/** Fields that only SDKs up to 0.66 read. */
const olderFields = {
  users: z
    .array(z.strictObject({ role: z.enum(['owner', 'member']), defaultFolderId: z.string().nullable() }))
    .describe('The caller alone.'),
  domains: z
    .array(z.strictObject({ slug: z.string(), primary: z.boolean(), verified: z.boolean() }))
    .describe('Domains of the workspace, at most 100.'),
  totalLinks: count,
  usage: count.describe('Events since the start of the month in UTC; 0 while ClickHouse is unavailable.'),
  usageLimit: count.describe('Events are not limited, so this is the largest exact number.'),
  linksUsage: count,
  linksLimit: count,
  domainsLimit: count,
  tagsLimit: count,
  foldersUsage: count,
  foldersLimit: count,
  groupsLimit: count,
  usersLimit: count,
  payoutsUsage: count.describe(unused),
  payoutsLimit: count.describe(unused),
  payoutFee: z.number().describe(unused),
  aiUsage: count.describe(unused),
  aiLimit: count.describe(unused),
  billingCycleStart: count.describe(unused),
  conversionEnabled: z.boolean().describe('Always true.'),
  dotLinkClaimed: z.boolean().describe(unused),
  inviteCode: z.string().nullable().describe(unused),
  stripeId: z.string().nullable().describe(unused),
  stripeConnectId: z.string().nullable().describe(unused),
  paymentFailedAt: z.string().nullable().describe(unused),
  flags: z.record(z.string(), z.boolean()).describe(unused),
  store: z.record(z.string(), z.unknown()).nullable().describe(unused),
}

const identity = {
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  logo: z.string().nullable(),
  plan: z.enum(plans),
  createdAt: instant,
}
const role = z.enum(roles).nullable().describe("The caller's role; null for an API key.")

export const workspace = z
  .strictObject({ ...identity, role, ...settings, timeZone: z.string(), ...olderFields })
  .meta({ id: 'Workspace' })
export type Workspace = z.input<typeof workspace>

const listed = z.strictObject({ ...identity, role }).meta({ id: 'ListedWorkspace' })
export type ListedWorkspace = z.input<typeof listed>

export const newWorkspace = z
  .object({ name, slug: workspaceSlug.optional().describe('Derived from the name when omitted.') })
  .meta({ id: 'NewWorkspace' })
export type NewWorkspace = z.infer<typeof newWorkspace>

export const workspacePatch = z
  .object({
    name,
    slug: workspaceSlug,
    ...settings,
    conversionEnabled: z.boolean().describe('Older SDKs send it; has no effect.'),
  })
  .partial()
  .meta({ id: 'WorkspacePatch' })
export type WorkspacePatch = z.infer<typeof workspacePatch>

const params = z.object({ idOrSlug: z.string().max(100).describe('Id or slug of the workspace.') })
const shared = { tag: 'Workspaces', params } as const

export const listWorkspaces = operation({
  id: 'listWorkspaces',
  method: 'get',
  path: '/workspaces',
  summary: 'List workspaces',
  description:
    'Lists the workspaces of the signed-in user, oldest first unless asked otherwise. An API key lists its own workspace.',
  tag: 'Workspaces',
  scope: 'workspaces.read',
  workspace: 'none',
  query: z.object(listing(100, ['createdAt', 'name'], 'asc')),
  response: z.array(listed),
})

export type WorkspacesQuery = z.output<typeof listWorkspaces.query>

export const createWorkspace = operation({
  id: 'createWorkspace',
  method: 'post',
  path: '/workspaces',
  summary: 'Create a workspace',
  description: 'Creates a workspace with the signed-in user as its owner.',
  tag: 'Workspaces',
  actors: ['user'],
  scope: 'workspaces.write',
  workspace: 'none',
  body: newWorkspace,
  status: 201,
  response: listed,
})

export const getWorkspace = operation({
  ...shared,
  id: 'getWorkspace',
  method: 'get',
  path: '/workspaces/{idOrSlug}',
  summary: 'Get a workspace',
  scope: 'workspaces.read',
  response: workspace,
})

export const updateWorkspace = operation({
  ...shared,
  id: 'updateWorkspace',
  method: 'patch',
  path: '/workspaces/{idOrSlug}',
  summary: 'Update a workspace',
  description: 'Changes settings. The plan changes only by the operator: `tributary workspace set`.',
  scope: 'workspaces.write',
  body: workspacePatch,
  response: workspace,
})

const amount = z.strictObject({ used: count, limit: count.nullable().describe('Null without a limit.') })
const usage = z
  .strictObject({
    plan: z.enum(plans),
    month: z.string().describe('The current month in UTC, such as 2026-11.'),
    events: amount.describe('Clicks, leads and sales since the start of the month.'),
    eventsByDay: z
      .array(z.strictObject({ day: z.string().describe('Day in UTC, such as 2026-11-18.'), events: count }))
      .describe('The same by day, from the first of the month to today.'),
    links: amount,
    customers: amount,
    domains: amount,
    tags: amount,
    folders: amount,
    partners: amount,
    webhooks: amount,
    webhookBytes: amount.describe(
      'Stored bytes of webhook events. At the limit, the oldest events that are not waiting to be sent are deleted.',
    ),
    keys: amount,
    members: amount.describe('Members and open invites.'),
  })
  .meta({ id: 'WorkspaceUsage' })
export type WorkspaceUsage = z.input<typeof usage>

export const getWorkspaceUsage = operation({
  ...shared,
  id: 'getWorkspaceUsage',
  method: 'get',
  path: '/workspaces/{idOrSlug}/usage',
  summary: 'Get the usage of a workspace',
  scope: 'usage.read',
  response: usage,
})

const deletion = z
  .strictObject({
    id: z.string().describe('Id of the deleted workspace.'),
    name: z.string(),
    slug: z.string().describe('The former slug; another workspace may use it now.'),
    status: z.enum(['erasing', 'erased']),
    erasedRows: count.describe('Rows erased in PostgreSQL so far.'),
    step: z.string().describe('The table that is being erased; empty before the first and after the last.'),
    deletedAt: instant,
    erasedAt: instant.nullable().describe('When PostgreSQL and ClickHouse had no data of the workspace any more.'),
  })
  .meta({ id: 'WorkspaceDeletion' })
export type WorkspaceDeletion = z.input<typeof deletion>

export const deleteWorkspace = operation({
  ...shared,
  id: 'deleteWorkspace',
  method: 'delete',
  path: '/workspaces/{idOrSlug}',
  summary: 'Delete a workspace',
  description:
    'Deletes a workspace for good. Links stop redirecting and keys stop working at once; a job then erases all data. The query must repeat the slug. The user must have signed in within the last 15 minutes.',
  actors: ['user'],
  roles: ['owner'],
  needsFreshSession: true,
  scope: 'workspaces.write',
  query: z.object({ confirm: z.string().max(100).describe('The slug of the workspace, typed by the user.') }),
  status: 202,
  response: deletion,
})

export const getWorkspaceDeletion = operation({
  ...shared,
  id: 'getWorkspaceDeletion',
  method: 'get',
  path: '/workspaces/{idOrSlug}/deletion',
  summary: 'Watch the deletion of a workspace',
  description: 'Returns the progress of a deletion to the user who requested it, by the id or the former slug.',
  actors: ['user'],
  scope: 'workspaces.read',
  workspace: 'none',
  response: deletion,
})

export const leaveWorkspace = operation({
  ...shared,
  id: 'leaveWorkspace',
  method: 'post',
  path: '/workspaces/{idOrSlug}/leave',
  summary: 'Leave a workspace',
  description:
    "Ends the signed-in user's membership, whatever the role, and their personal keys. The last owner can't leave.",
  actors: ['user'],
  scope: 'workspaces.read',
  isAudited: true,
  workspace: 'none',
  response: z.strictObject({ id: z.string() }),
})

export const transferWorkspace = operation({
  ...shared,
  id: 'transferWorkspace',
  method: 'post',
  path: '/workspaces/{idOrSlug}/transfer',
  summary: 'Transfer a workspace',
  description:
    'Makes another member the owner, and the caller an admin. The user must have signed in within the last 15 minutes.',
  actors: ['user'],
  roles: ['owner'],
  needsFreshSession: true,
  scope: 'workspaces.write',
  body: z.object({ userId: z.string().max(100).describe('The new owner, a member of the workspace.') }).meta({
    id: 'WorkspaceTransfer',
  }),
  response: z.strictObject({ id: z.string(), ownerId: z.string() }),
})

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

import { randomUUID } from 'node:crypto'
import type { Link, NewLink } from '@tributary/contract/links'
import type { Plan } from '@tributary/contract/operation'
import type { Role, Scope } from '@tributary/contract/permissions'
import type { NewProgram, Program } from '@tributary/contract/programs'
import { sql } from 'kysely'
import { createUser, startSession } from '../src/features/auth/service.ts'
import { clickKeys, mintClickId } from '../src/features/click-ids/service.ts'
import { type Customer, makeCustomer, type Person } from '../src/features/customers/service.ts'
import { addDomain } from '../src/features/domains/service.ts'
import { requireDefaultGroup, requireGroup } from '../src/features/groups/service.ts'
import { createLink } from '../src/features/links/service.ts'
import { addMember } from '../src/features/members/service.ts'
import { addPartner, type Partner } from '../src/features/partners/service.ts'
import { createProgram } from '../src/features/programs/service.ts'
import type { RawClick } from '../src/features/redirect/messages.ts'
import { createToken } from '../src/features/tokens/service.ts'
import { createWorkspace, type Workspace } from '../src/features/workspaces/service.ts'
import type { Platform } from '../src/platform/context.ts'
import { transaction } from '../src/platform/postgres.ts'
import { contextIn } from './context.ts'

export type BuiltWorkspace = Workspace & { key: string; keyId: string; domain: string }

/** Creates a workspace with an API key and its own domain. */
export async function buildWorkspace(
  platform: Platform,
  given: { plan?: Plan; scopes?: Scope[]; expiresAt?: Date } = {},
): Promise<BuiltWorkspace> {
  const name = `t-${randomUUID().slice(0, 13)}`
  const workspace = await createWorkspace(platform, { name, plan: given.plan ?? 'enterprise' })
  const token = await createToken(platform, { workspaceId: workspace.id, name: 'test', ...given })
  const domain = await addDomain(platform, { workspaceId: workspace.id, slug: `${name}.localhost` })
  return { ...workspace, key: token.key, keyId: token.id, domain: domain.slug }
}

export type BuiltUser = { id: string; email: string; name: string; cookie: string }

/** Creates a user with a verified e-mail address and a live session; `cookie` is the value of the `Cookie` header. */
export async function buildUser(
  platform: Platform,
  given: { email?: string; name?: string; password?: string } = {},
): Promise<BuiltUser> {
  const name = given.name ?? `user-${randomUUID().slice(0, 8)}`
  const { password, email = `${randomUUID()}@example.com` } = given
  const user = await createUser(platform, { name, email, isEmailVerified: true, ...(password && { password }) })
  return { id: user.id, email: user.email, name, cookie: await startSession(platform, user.id) }
}

/** Creates a user who is a member of the workspace. */
export async function buildMember(
  platform: Platform,
  workspace: Pick<Workspace, 'id'>,
  role: Role,
): Promise<BuiltUser> {
  const user = await buildUser(platform)
  await addMember({ db: platform.db, workspaceId: workspace.id }, user.id, role)
  return user
}

export function buildLink(platform: Platform, workspace: Workspace, given: Partial<NewLink> = {}): Promise<Link> {
  const input = { url: 'https://example.com/landing', trackConversion: false, ...given }
  return createLink(contextIn(platform, workspace.id), input)
}

/** Creates a customer as a lead would; without a link the customer has no origin. */
export function buildCustomer(
  platform: Platform,
  workspace: Workspace,
  given: Partial<Person> = {},
  click: { clickId: string; linkNumber: bigint } | null = null,
): Promise<Customer> {
  const person = { externalId: `ext-${randomUUID()}`, name: null, email: null, avatar: null, ...given }
  return makeCustomer(contextIn(platform, workspace.id), person, click)
}

/** Creates a partner program with its default group; its domain and URL are set. */
export function buildProgram(
  platform: Platform,
  workspace: Pick<BuiltWorkspace, 'id' | 'domain'>,
  given: Partial<NewProgram> = {},
): Promise<Program> {
  const input = { name: 'Program', domain: workspace.domain, url: 'https://example.com/', ...given }
  return createProgram(contextIn(platform, workspace.id), input)
}

/** Creates an approved partner without links, in the default group unless `groupId` names another. */
export async function buildPartner(
  platform: Platform,
  workspace: Pick<Workspace, 'id'>,
  {
    groupId,
    ...given
  }: { groupId?: string } & Partial<Pick<Partner, 'name' | 'email' | 'country' | 'tenant_id' | 'status'>> = {},
): Promise<Partner> {
  const name = `partner-${randomUUID().slice(0, 8)}`
  const partner = await transaction(contextIn(platform, workspace.id), async (ctx) => {
    const group = groupId === undefined ? await requireDefaultGroup(ctx) : await requireGroup(ctx, groupId)
    const row = { group_number: group.number, status: 'approved' as const, name, email: `${name}@example.com` }
    return addPartner(ctx, { ...row, ...given })
  })
  if (!partner) throw new Error(`Another partner has the e-mail or tenant id of ${name}`)
  return partner
}

/** Builds a click as the redirect would capture it, from a new visitor on every call. */
export function buildClick(
  platform: Platform,
  link: { number: bigint; workspaceId: string; url: string },
  given: Partial<RawClick> = {},
): RawClick {
  const visitor = { ip: nextAddress(), userAgent: browser, at: Date.now(), ...given }
  return {
    id: mintClickId(clickKeys(platform.config), { ...visitor, linkNumber: link.number }),
    workspaceId: link.workspaceId,
    linkNumber: String(link.number),
    url: link.url,
    trigger: 'link',
    referer: '',
    bot: '',
    country: '',
    region: '',
    city: '',
    continent: '',
    ...visitor,
    ...given,
  }
}

/** Creates a link in a new workspace, and a function for clicks on it from new visitors. */
export async function buildConversionLink(platform: Platform, given: { plan?: Plan } = {}) {
  const workspace = await buildWorkspace(platform, given)
  const link = await buildLink(platform, workspace, { trackConversion: true })
  const result = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${link.id}`.execute(platform.db)
  const numbered = { number: result.rows[0]?.number ?? 0n, workspaceId: workspace.id, url: link.url }
  const click = (given: Partial<RawClick> = {}) => buildClick(platform, numbered, given)
  return { workspace, link, click }
}

export const browser =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

let visitors = 0

/** Sequential addresses, because random ones would repeat a visitor in one of eight runs. */
function nextAddress(): string {
  visitors += 1
  return `10.${(visitors >> 16) & 255}.${(visitors >> 8) & 255}.${visitors & 255}`
}

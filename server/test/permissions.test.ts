import { operations } from '@tributary/contract/index'
import type { Access } from '@tributary/contract/operation'
import { type Role, roleScopes, roles, type Scope, scopes } from '@tributary/contract/permissions'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { createFolder } from '../src/features/folders/service.ts'
import { updateMember } from '../src/features/members/service.ts'
import { createToken } from '../src/features/tokens/service.ts'
import { changeWorkspace } from '../src/features/workspaces/service.ts'
import { type BuiltWorkspace, buildLink, buildMember, buildProgram, buildWorkspace } from './build.ts'
import { contextIn } from './context.ts'
import { type FolderRequest, folderRequests, namesFolder } from './folder-requests.ts'
import { folderStatuses, permittedStatuses, refusedWithHiddenFolder } from './permitted-statuses.ts'
import { openTestPlatform } from './stack.ts'

/*
 * Calls every operation as every kind of caller. Who is refused follows from the contract: scope, actors and roles. What a
 * permitted caller gets for an empty request is in `permittedStatuses`; a new operation needs a line there.
 */
const platform = await openTestPlatform()
const { api } = inject('server')
const page = 'shop.example.com'

type Guarded = Extract<(typeof operations)[number], Access>
const guarded = operations.filter((operation) => operation.kind === 'json' || operation.kind === 'stream') as Guarded[]

let workspace: BuiltWorkspace
let other: BuiltWorkspace
const cookies: Record<string, string> = {}
const accesses = ['none', 'read'] as const
let inFolder: Readonly<Record<string, FolderRequest>>

beforeAll(async () => {
  workspace = await buildWorkspace(platform)
  other = await buildWorkspace(platform)
  await changeWorkspace(platform, workspace.id, { allowed_hostnames: [page] })
  for (const role of roles) cookies[role] = (await buildMember(platform, workspace, role)).cookie
  cookies.stranger = (await buildMember(platform, other, 'owner')).cookie
  const removed = await buildMember(platform, workspace, 'admin')
  await sql`DELETE FROM members WHERE user_id = ${removed.id}`.execute(platform.db)
  cookies.removed = removed.cookie
  const ended = await buildMember(platform, workspace, 'owner')
  await sql`DELETE FROM sessions WHERE user_id = ${ended.id}`.execute(platform.db)
  cookies.ended = ended.cookie
  await buildProgram(platform, workspace)
  const ctx = contextIn(platform, workspace.id)
  const folder = await createFolder(ctx, { name: 'restricted', accessLevel: 'write' })
  const link = await buildLink(platform, workspace, { folderId: folder.id })
  inFolder = folderRequests(folder.id, link.id)
  for (const access of accesses) {
    const member = await buildMember(platform, workspace, 'member')
    await updateMember(ctx, member.id, { folders: [{ folderId: folder.id, access }] })
    cookies[access] = member.cookie
  }
})

test('every operation has its status for an empty request of a permitted caller', () => {
  expect(Object.keys(permittedStatuses).sort()).toEqual(guarded.map(({ id }) => id).sort())
})

test('every operation that can name a folder or its links has its statuses for members with a restricted folder', () => {
  const named = guarded.filter(namesFolder).map(({ id }) => id)
  expect(Object.keys(folderStatuses).sort()).toEqual(named.sort())
  expect(Object.keys(inFolder).sort()).toEqual(named.sort())
})

describe.each(guarded)('$id', (operation) => {
  const permitted = permittedStatuses[operation.id] ?? 0

  test('without credentials, and with an ended session: 401', async () => {
    expect((await call(operation, {})).status).toBe(401)
    expect((await call(operation, signedIn('ended'))).status).toBe(401)
  })

  test.each(roles)('role %s', async (role) => {
    const { status, message } = await call(operation, signedIn(role))
    expect(status, message).toBe(isPermitted(operation, role) ? permitted : 403)
  })

  test.each(accesses)('member with access %s to a folder', async (access) => {
    const isRefused = access === 'none' && refusedWithHiddenFolder.has(operation.id)
    const { status, message } = await call(operation, signedIn(access))
    expect(status, message).toBe(isPermitted(operation, 'member') && !isRefused ? permitted : 403)
    if (!namesFolder(operation)) return
    const named = await call(operation, signedIn(access), inFolder[operation.id])
    expect(named.status, named.message).toBe(folderStatuses[operation.id]?.[access])
  })

  test.each(['stranger', 'removed'])('%s: 404, unless the operation needs no workspace', async (who) => {
    const { status, message } = await call(operation, signedIn(who))
    expect(status, message).toBe(operation.workspace === 'none' ? permitted : 404)
    if (operation.workspace !== 'none') expect(message).toMatch(/^There is no workspace \S+ for you/)
  })

  test('key with the scope, and key with all others', async () => {
    const isForKeys = operation.actors.includes('key') && !operation.roles && !operation.needsUser
    expect((await call(operation, await withKey([operation.scope]))).status).toBe(isForKeys ? permitted : 403)
    const enough = [operation.scope, operation.scope.replace('.read', '.write'), 'apis.all', 'apis.read']
    const others = scopes.filter((scope) => !enough.includes(scope))
    expect((await call(operation, await withKey(others))).status).toBe(403)
  })

  test('publishable key', async () => {
    const isForPages = operation.kind === 'json' && operation.isForPages
    const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'page', isPublishable: true })
    const headers = { authorization: `Bearer ${key}`, referer: `https://${page}/` }
    expect((await call(operation, headers)).status).toBe(isForPages ? permitted : 403)
  })
})

/** Whether a member with this role may call the operation, by the contract. */
function isPermitted({ actors, scope, roles, workspace }: Access, role: Role): boolean {
  if (!actors.includes('user') || (roles && !roles.includes(role))) return false
  if (workspace === 'none') return true
  const accepted: string[] = ['apis.all', scope]
  if (scope.endsWith('.read')) accepted.push('apis.read', scope.replace('.read', '.write'))
  return roleScopes[role].some((owned) => accepted.includes(owned))
}

function signedIn(who: string): Record<string, string> {
  return { cookie: cookies[who] ?? '', 'tributary-workspace': workspace.slug, 'sec-fetch-site': 'same-origin' }
}

async function withKey(given: Scope[]): Promise<Record<string, string>> {
  const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'test', scopes: given })
  return { authorization: `Bearer ${key}` }
}

/** Sends a request, by default with unknown ids and an empty body, which no operation accepts as a change. */
async function call(operation: Guarded, headers: Record<string, string>, request: FolderRequest = {}) {
  const named = operation.workspace === 'none' ? 'unknown' : workspace.id
  const path = operation.path
    .replace('{idOrSlug}', named)
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => request.params?.[name] ?? 'unknown')
  const body = operation.method === 'get' ? undefined : JSON.stringify(request.body ?? {})
  const leave = new AbortController()
  const response = await fetch(`${api}${path}?${new URLSearchParams(request.query)}`, {
    method: operation.method.toUpperCase(),
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    body,
    signal: leave.signal,
  })
  // Only errors are read, because an open stream would not end by itself.
  const answer = response.ok ? undefined : ((await response.json()) as { error: { message: string } })
  leave.abort()
  return { status: response.status, message: answer?.error.message ?? '' }
}

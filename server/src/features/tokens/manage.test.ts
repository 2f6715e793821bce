import type { Role } from '@tributary/contract/permissions'
import { roleScopes } from '@tributary/contract/permissions'
import { listTokens } from '@tributary/contract/tokens'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { type BuiltWorkspace, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import type { Actor, Ctx } from '../../platform/context.ts'
import { newId } from '../../platform/ids.ts'
import { createKey, getKey, listKeys, revokeKey, rotateKey, updateKey } from './manage.ts'
import { contextReader, createToken, type MemberAccess } from './service.ts'

const platform = await openTestPlatform()

/** Returns the context of a new member of the workspace. */
async function memberIn(workspace: BuiltWorkspace, role: Role): Promise<Ctx & { actor: Actor & { kind: 'user' } }> {
  const id = newId('user')
  await sql`INSERT INTO users (id, name, email) VALUES (${id}, 'Ann', ${`${id}@example.com`.toLowerCase()})`.execute(
    platform.db,
  )
  await sql`INSERT INTO members (workspace_id, user_id, role) VALUES (${workspace.id}, ${id}, ${role})`.execute(
    platform.db,
  )
  const actor = { kind: 'user' as const, id, role, scopes: [...roleScopes[role]] }
  return { ...contextIn(platform, workspace.id), actor }
}

const authenticate = (key: string, member: MemberAccess | undefined) =>
  contextReader(async () => member)(platform, { authorization: `Bearer ${key}`, page: '' })

describe('a personal key', () => {
  test('belongs to the user who creates it, and has no scope that the role lacks', async () => {
    const workspace = await buildWorkspace(platform)
    const ctx = await memberIn(workspace, 'member')
    const key = await createKey(ctx, { name: 'mine', scopes: ['links.write', 'apis.read'] })
    expect(key).toMatchObject({ kind: 'personal', userId: ctx.actor.id, createdBy: ctx.actor.id })
    await expect(createKey(ctx, { name: 'mine', scopes: ['links.read', 'domains.write'] })).rejects.toMatchObject({
      code: 'forbidden',
      message: 'This user lacks the scopes of the key: domains.write. Grant only scopes that you have.',
    })
    await expect(createKey(ctx, { name: 'm', kind: 'machine', scopes: ['links.read'] })).rejects.toMatchObject({
      code: 'forbidden',
    })
  })

  test("may do what its scopes and the owner's present role both allow, in the owner's folders", async () => {
    const workspace = await buildWorkspace(platform)
    const ctx = await memberIn(workspace, 'admin')
    const all = await createKey(ctx, { name: 'all', scopes: ['apis.all'] })
    const some = await createKey(ctx, { name: 'some', scopes: ['links.write', 'domains.write'] })
    const folderAccess = { hidden: ['fold_1'], readOnly: [] }
    const demoted = await authenticate(all.key, { scopes: roleScopes.viewer, folderAccess })
    expect(demoted.folderAccess).toEqual(folderAccess)
    expect(demoted.actor).toMatchObject({ kind: 'key', userId: ctx.actor.id })
    expect(demoted.actor.scopes).toContain('apis.read')
    const writes = demoted.actor.scopes.filter((scope) => scope.endsWith('.write') || scope === 'apis.all')
    expect(writes).toEqual(['preferences.write'])
    const asMember = await authenticate(some.key, { scopes: roleScopes.member })
    expect(asMember.actor.scopes).toEqual(['links.read', 'links.write', 'domains.read'])
    expect((await authenticate(some.key, { scopes: roleScopes.owner })).actor.scopes).toEqual(some.scopes)
  })

  test('ends with the membership, and does not work again when the owner comes back', async () => {
    const workspace = await buildWorkspace(platform)
    const ctx = await memberIn(workspace, 'member')
    const { key } = await createKey(ctx, { name: 'mine', scopes: ['links.read'] })
    await expect(authenticate(key, undefined)).rejects.toMatchObject({
      code: 'unauthorized',
      message: 'The owner of this API key is not a member of the workspace. Create a new one.',
    })
    await sql`DELETE FROM members WHERE user_id = ${ctx.actor.id}`.execute(platform.db)
    await expect(authenticate(key, { scopes: ['apis.all'] })).rejects.toMatchObject({
      message: 'This API key has been revoked. Create a new one.',
    })
  })

  test('is visible to its owner and to admins only; only its owner may rotate it', async () => {
    const workspace = await buildWorkspace(platform)
    const [ann, bob, admin] = [
      await memberIn(workspace, 'member'),
      await memberIn(workspace, 'member'),
      await memberIn(workspace, 'admin'),
    ]
    const { id } = await createKey(ann, { name: 'of Ann', scopes: ['links.read'] })
    const list = async (ctx: Ctx, query = {}) =>
      (await listKeys(ctx, listTokens.query.parse(query))).map(({ name }) => name)
    expect(await list(ann)).toEqual(['of Ann'])
    expect(await list(bob)).toEqual([])
    expect(await list(bob, { userId: ann.actor.id })).toEqual([])
    expect(await list(admin, { userId: ann.actor.id })).toEqual(['of Ann'])
    expect(await list(admin)).toEqual(['of Ann', 'test'])
    for (const attempt of [
      () => getKey(bob, id),
      () => updateKey(bob, id, { name: 'x' }),
      () => rotateKey(bob, id, { overlapHours: 0 }),
      () => revokeKey(bob, id),
      () => getKey(bob, workspace.keyId),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: 'not_found' })
    await expect(rotateKey(admin, id, { overlapHours: 0 })).rejects.toMatchObject({
      code: 'forbidden',
      message: 'Only its owner may rotate a personal key. Revoke it instead; the owner then creates a new one.',
    })
    expect(await rotateKey(ann, id, { overlapHours: 0 })).toMatchObject({ userId: ann.actor.id, kind: 'personal' })
  })

  test('of a member with the scope tokens.write creates keys for its owner only, with scopes that it has', async () => {
    const workspace = await buildWorkspace(platform)
    const ann = await memberIn(workspace, 'member')
    const strong = await createKey(ann, { name: 'strong', scopes: ['links.write'] })
    const weak = await createKey(ann, { name: 'weak', scopes: ['tokens.write', 'links.read'] })
    const ctx = { ...(await authenticate(weak.key, { scopes: roleScopes.member })), requestId: 'test' }
    expect(await createKey(ctx, { name: 'n', scopes: ['links.read'] })).toMatchObject({
      kind: 'personal',
      userId: ann.actor.id,
    })
    await expect(createKey(ctx, { name: 'n', scopes: ['links.write'] })).rejects.toMatchObject({ code: 'forbidden' })
    await expect(rotateKey(ctx, strong.id, { overlapHours: 0 })).rejects.toMatchObject({ code: 'forbidden' })
  })
})

test('a workspace lists its last 1,000 revoked and expired keys; older ones are deleted', async () => {
  const workspace = await buildWorkspace(platform)
  await sql`INSERT INTO tokens (id, workspace_id, name, hash, prefix, last_four, scopes, revoked_at)
    SELECT 'key_' || ${workspace.id} || n, ${workspace.id}, 'n' || n, sha256((${workspace.id} || n)::bytea), 'trib_abc', 'abcd',
      '{links.read}', now() - make_interval(secs => n) FROM generate_series(1, 1003) n`.execute(platform.db)
  await createToken(platform, { workspaceId: workspace.id, name: 'one more' })
  const rest = await sql<{ count: bigint }>`SELECT count(*) FROM tokens
    WHERE workspace_id = ${workspace.id} AND revoked_at IS NOT NULL`.execute(platform.db)
  expect(Number(rest.rows[0]?.count)).toBe(1_000)
})

import { setTimeout as sleep } from 'node:timers/promises'
import { reservedSlugs } from '@tributary/contract/workspaces'
import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { browser, buildLink, buildMember, buildUser, buildWorkspace } from '../../../test/build.ts'
import { callAs, callWithKey } from '../../../test/session.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { visit } from '../../../test/visit.ts'
import { query } from '../../platform/clickhouse.ts'

const platform = await openTestPlatform()
const { redirect } = inject('server')
const newSlug = () => `s-${crypto.randomUUID().slice(0, 13)}`

describe('createWorkspace', () => {
  test('makes the user the owner', async () => {
    const user = await buildUser(platform)
    const call = callAs(user)
    const slug = newSlug()
    const { status, body } = await call('POST', '/workspaces', { name: 'Mine', slug })
    expect(status, JSON.stringify(body)).toBe(201)
    expect(body).toMatchObject({ name: 'Mine', slug, role: 'owner', plan: 'enterprise' })
    expect((await call('GET', '/workspaces')).body).toEqual([body])
    expect((await callAs(user, slug)('GET', '/members')).body).toMatchObject([{ userId: user.id, role: 'owner' }])
  })

  test('refuses a taken slug with 409, and a short or reserved one with 422', async () => {
    const call = callAs(await buildUser(platform))
    const { slug } = await buildWorkspace(platform)
    expect((await call('POST', '/workspaces', { name: 'x', slug })).status).toBe(409)
    for (const wrong of ['ab', 'Abc', 'a_b', '-abc', 'x'.repeat(49), ...[...reservedSlugs].slice(0, 3)]) {
      expect((await call('POST', '/workspaces', { name: 'x', slug: wrong })).status, wrong).toBe(422)
    }
  })

  test('a user owns at most as many workspaces as the operator allows', async () => {
    const call = callAs(await buildUser(platform))
    const answers = await Promise.all(
      Array.from({ length: 14 }, () => call('POST', '/workspaces', { name: 'x', slug: newSlug() })),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(platform.config.WORKSPACES_PER_USER)
    expect(new Set(statuses)).toEqual(new Set([201, 403]))
  })

  test('takes no idempotency key, because that is for operations of a workspace', async () => {
    const call = callAs(await buildUser(platform))
    const { status } = await call('POST', '/workspaces', { name: 'x', slug: newSlug() }, { 'idempotency-key': 'a' })
    expect(status).toBe(400)
  })

  test('is not for keys', async () => {
    const { key } = await buildWorkspace(platform)
    expect((await callWithKey(key)('POST', '/workspaces', { name: 'x' })).status).toBe(403)
  })
})

describe('getWorkspace and updateWorkspace', () => {
  test('a key gets its own workspace, by id and slug, and no other', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    const call = callWithKey(ours.key)
    await buildLink(platform, ours)
    const { body } = await call('GET', `/workspaces/${ours.slug}`)
    expect(body).toMatchObject({ id: ours.id, role: null, defaultDomain: ours.domain, totalLinks: 1, linksUsage: 1 })
    expect(body.domains).toEqual([{ slug: ours.domain, primary: true, verified: true }])
    expect((await call('GET', `/workspaces/${ours.id}`)).status).toBe(200)
    expect((await call('GET', `/workspaces/${theirs.id}`)).status).toBe(404)
    expect((await call('GET', '/workspaces')).body).toMatchObject([{ id: ours.id, role: null }])
  })

  test('changes settings', async () => {
    const workspace = await buildWorkspace(platform)
    const call = callWithKey(workspace.key)
    const changes = {
      name: 'New',
      slug: newSlug(),
      logo: 'https://example.com/l.png',
      timeZone: 'Europe/Berlin',
      weekStart: 0,
      currency: 'eur',
      attributionDays: 30,
      attributionModel: 'first-click',
      ipStorage: 'none',
      allowedHostnames: ['example.com', '*.example.com'],
      contactEmail: 'ops@example.com',
    }
    const { status, body } = await call('PATCH', `/workspaces/${workspace.slug}`, {
      ...changes,
      conversionEnabled: true,
    })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject(changes)
    expect((await call('GET', `/workspaces/${changes.slug}`)).body).toMatchObject(changes)
    expect((await call('PATCH', `/workspaces/${workspace.id}`, {})).body).toMatchObject(changes)
  })

  test.each([
    { timeZone: 'Mars/Olympus' },
    { weekStart: 7 },
    { currency: 'EURO' },
    { attributionDays: 0 },
    { logo: 'javascript:alert(1)' },
    { allowedHostnames: ['https://x/y'] },
    { defaultDomain: null },
  ])('refuses %j with 422', async (patch) => {
    const { id, key } = await buildWorkspace(platform)
    expect((await callWithKey(key)('PATCH', `/workspaces/${id}`, patch)).status).toBe(422)
  })

  test('refuses a taken slug with 409, and the plan is not a setting', async () => {
    const [ours, theirs] = [await buildWorkspace(platform, { plan: 'pro' }), await buildWorkspace(platform)]
    const call = callWithKey(ours.key)
    expect((await call('PATCH', `/workspaces/${ours.id}`, { slug: theirs.slug })).status).toBe(409)
    expect((await call('PATCH', `/workspaces/${ours.id}`, { plan: 'enterprise' })).body).toMatchObject({ plan: 'pro' })
  })
})

test('getWorkspaceUsage counts what the workspace has', async () => {
  const workspace = await buildWorkspace(platform)
  await buildLink(platform, workspace)
  const billing = await buildMember(platform, workspace, 'billing')
  const { status, body } = await callAs(billing)('GET', `/workspaces/${workspace.slug}/usage`)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body).toMatchObject({ links: { used: 1 }, domains: { used: 1 }, keys: { used: 1 }, members: { used: 1 } })
  expect(body.events).toEqual({ used: 0, limit: null })
  const today = new Date().toISOString().slice(0, 10)
  expect(body.eventsByDay).toHaveLength(Number(today.slice(8)))
  expect(body.eventsByDay.at(-1)).toEqual({ day: today, events: 0 })
  expect(body.webhookBytes).toEqual({ used: 0, limit: platform.config.WEBHOOK_STORAGE_MEGABYTES * 1_000_000 })
})

describe('leaveWorkspace and transferWorkspace', () => {
  test('anyone but the last owner may leave', async () => {
    const workspace = await buildWorkspace(platform)
    const owner = await buildMember(platform, workspace, 'owner')
    const billing = await buildMember(platform, workspace, 'billing')
    const path = `/workspaces/${workspace.slug}/leave`
    expect((await callAs(owner)('POST', path)).status).toBe(409)
    expect((await callAs(billing)('POST', path)).body).toEqual({ id: workspace.id })
    expect((await callAs(billing)('POST', path)).status).toBe(404)
  })

  test('a transfer makes a member owner and the owner an admin', async () => {
    const workspace = await buildWorkspace(platform)
    const owner = await buildMember(platform, workspace, 'owner')
    const viewer = await buildMember(platform, workspace, 'viewer')
    const path = `/workspaces/${workspace.slug}/transfer`
    const call = callAs(owner)
    expect((await call('POST', path, { userId: owner.id })).status).toBe(422)
    expect((await call('POST', path, { userId: (await buildUser(platform)).id })).status).toBe(404)
    expect((await callAs(viewer)('POST', path, { userId: viewer.id })).status).toBe(403)
    expect((await call('POST', path, { userId: viewer.id })).body).toEqual({ id: workspace.id, ownerId: viewer.id })
    const { body } = await callAs(viewer, workspace.id)('GET', '/members')
    expect(body.map(({ role }: { role: string }) => role)).toEqual(['admin', 'owner'])
    expect((await call('POST', path, { userId: viewer.id })).status).toBe(403)
  })

  test('a sign-in of some time ago is not enough', async () => {
    const workspace = await buildWorkspace(platform)
    const owner = await buildMember(platform, workspace, 'owner')
    await sql`UPDATE sessions SET authenticated_at = now() - interval '16 minutes' WHERE user_id = ${owner.id}`.execute(
      platform.db,
    )
    const { status, body } = await callAs(owner)('DELETE', `/workspaces/${workspace.id}?confirm=${workspace.slug}`)
    expect(status).toBe(403)
    expect(body.error.message).toContain('/account')
  })
})

describe('deleteWorkspace', () => {
  test('stops links and keys at once, frees the slug, and erases everything', async () => {
    const workspace = await buildWorkspace(platform)
    const owner = await buildMember(platform, workspace, 'owner')
    const call = callAs(owner)
    const link = await buildLink(platform, workspace, { key: 'k' })
    const shared = await buildLink(platform, workspace, { domain: platform.config.SHORT_DOMAIN })
    const go = (host: string, key: string) => visit(`${redirect}/${key}`, { host, 'user-agent': browser })
    expect((await go(workspace.domain, link.key)).status).toBe(302)
    expect((await go(platform.config.SHORT_DOMAIN, shared.key)).status).toBe(302)
    await eventually(async () => expect(await countEvents(workspace.id)).toBeGreaterThan(0))

    const path = `/workspaces/${workspace.slug}`
    expect((await call('DELETE', `${path}?confirm=other`)).status).toBe(422)
    const { status, body } = await call('DELETE', `${path}?confirm=${workspace.slug}`)
    expect(status, JSON.stringify(body)).toBe(202)
    expect(body).toMatchObject({ id: workspace.id, slug: workspace.slug, status: 'erasing' })
    await eventually(async () => expect((await go(workspace.domain, link.key)).status).toBe(404), 1_500)
    await eventually(async () => expect((await go(platform.config.SHORT_DOMAIN, shared.key)).status).toBe(404), 1_500)
    await sleep(800)
    expect((await callWithKey(workspace.key)('GET', '/links')).status).toBe(401)
    expect((await callAs(owner, workspace.id)('GET', '/links')).status).toBe(404)
    expect((await call('GET', '/workspaces')).body).toEqual([])
    expect((await call('POST', '/workspaces', { name: 'again', slug: workspace.slug })).status).toBe(201)

    const progress = async () => (await call('GET', `/workspaces/${workspace.id}/deletion`)).body
    await eventually(async () => expect(await progress()).toMatchObject({ status: 'erased' }))
    expect((await progress()).erasedRows).toBeGreaterThan(5)
    expect(await leftRows(workspace.id)).toEqual({})
    expect(await countEvents(workspace.id)).toBe(0)
    const stranger = await buildUser(platform)
    expect((await callAs(stranger)('GET', `/workspaces/${workspace.id}/deletion`)).status).toBe(404)
  })

  test('is for owners alone', async () => {
    const workspace = await buildWorkspace(platform)
    const admin = await buildMember(platform, workspace, 'admin')
    const path = `/workspaces/${workspace.slug}?confirm=${workspace.slug}`
    expect((await callAs(admin)('DELETE', path)).status).toBe(403)
    expect((await callWithKey(workspace.key)('DELETE', path)).status).toBe(403)
  })
})

async function countEvents(workspaceId: string): Promise<number> {
  const tables = ['click_events', 'workspace_counts', 'link_counts', 'link_attributes']
  const counts = await Promise.all(
    tables.map((table) =>
      query<{ rows: string }>(
        platform.clickhouse,
        `SELECT toString(count()) AS rows FROM ${table} WHERE workspace_id = {workspaceId:String}`,
        { workspaceId },
      ),
    ),
  )
  return counts.reduce((sum, rows) => sum + Number(rows[0]?.rows), 0)
}

/** Tables that have rows of the workspace. */
async function leftRows(workspaceId: string): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }>`SELECT table_name AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'workspace_id' AND table_name NOT LIKE 'outbox%'`.execute(
    platform.db,
  )
  const left: Record<string, number> = {}
  for (const { name } of tables.rows) {
    const found = await sql`SELECT FROM ${sql.table(name)} WHERE workspace_id = ${workspaceId}`.execute(platform.db)
    if (found.rows.length > 0) left[name] = found.rows.length
  }
  return left
}

import { createClient } from '@tributary/contract/client'
import { createSampleData, deleteSampleData, getSampleData } from '@tributary/contract/sample-data'
import { sql } from 'kysely'
import { expect, inject, it } from 'vitest'
import { buildLink, buildMember, buildWorkspace } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { createToken } from '../tokens/service.ts'
import { clickCount } from './plan.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const none = { status: 'none', progress: 1, workspaceId: null, slug: null }

async function open() {
  const workspace = await buildWorkspace(platform)
  const user = await buildMember(platform, workspace, 'owner')
  const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'mine', userId: user.id })
  const read = async (slug: string, path: string) => {
    const response = await fetch(api + path, { headers: { cookie: user.cookie, 'tributary-workspace': slug } })
    return { status: response.status, body: await response.json() }
  }
  return { workspace, user, call: createClient({ url: api, token: key }), read }
}

const countRows = async (workspaceId: string) => {
  const found = await sql<{ links: number; customers: number; conversions: number }>`SELECT
    (SELECT count(*)::int FROM links WHERE workspace_id = ${workspaceId}) AS links,
    (SELECT count(*)::int FROM customers WHERE workspace_id = ${workspaceId}) AS customers,
    (SELECT count(*)::int FROM conversions WHERE workspace_id = ${workspaceId}) AS conversions`.execute(platform.db)
  return found.rows[0]
}

it('creates a workspace with links, clicks, leads and sales, and deletes all of it in one action', async () => {
  const { workspace, call, read } = await open()
  await buildLink(platform, workspace)
  expect(await call(getSampleData)).toEqual(none)
  const created = await call(createSampleData)
  expect(created).toMatchObject({ status: 'creating', slug: expect.stringMatching(/^sample-/) })
  const { slug = '', workspaceId = '' } = created as { slug: string; workspaceId: string }
  expect(await call(createSampleData)).toMatchObject({ workspaceId })
  await eventually(
    async () => expect(await call(getSampleData)).toMatchObject({ status: 'ready', progress: 1 }),
    90_000,
  )
  await eventually(async () => {
    const { body } = await read(slug, '/analytics?event=composite&interval=90d')
    const { clicks, leads, sales, saleAmount } = body as Record<string, number>
    expect(clicks).toBe(clickCount)
    expect(leads).toBeGreaterThan(20)
    expect(sales).toBeGreaterThan(5)
    expect(saleAmount).toBeGreaterThan(10_000)
  }, 60_000)
  const { body } = await read(slug, '/analytics?event=leads&interval=90d&groupBy=countries')
  expect((body as { country: string }[]).map(({ country }) => country)).toContain('DE')
  expect((await read(workspace.slug, '/analytics?event=composite&interval=90d')).body).toMatchObject({
    clicks: 0,
    leads: 0,
  })

  expect(await call(deleteSampleData)).toMatchObject({ status: 'deleting', workspaceId })
  // A process may use what it knows of a session for a second.
  await eventually(async () => expect((await read(slug, '/links')).status).toBe(404), 5_000)
  await eventually(async () => expect(await call(getSampleData)).toEqual(none), 90_000)
  expect(await countRows(workspaceId)).toEqual({ links: 0, customers: 0, conversions: 0 })
  expect(await countRows(workspace.id)).toMatchObject({ links: 1 })
  expect(await call(deleteSampleData)).toEqual(none)
}, 300_000)

it('a machine key gets 403 with what to do, and a second owner joins the same workspace', async () => {
  const { workspace, call } = await open()
  const machine = createClient({ url: api, token: workspace.key })
  await expect(machine(createSampleData)).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining('use a personal key'),
  })
  const { workspaceId } = await call(createSampleData)
  const other = await buildMember(platform, workspace, 'admin')
  const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'other', userId: other.id })
  expect(await createClient({ url: api, token: key })(createSampleData)).toMatchObject({ workspaceId })
  const members = await sql`SELECT FROM members WHERE workspace_id = ${workspaceId}`.execute(platform.db)
  expect(members.rows).toHaveLength(2)
  expect(await machine(deleteSampleData)).toMatchObject({ status: 'deleting' })
})

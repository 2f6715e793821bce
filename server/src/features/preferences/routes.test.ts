import { createClient } from '@tributary/contract/client'
import {
  defaultPreferences,
  getPreferences,
  type Preferences,
  updatePreferences,
} from '@tributary/contract/preferences'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { type BuiltUser, type BuiltWorkspace, buildMember, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { createToken } from '../tokens/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function send(workspace: BuiltWorkspace, { cookie }: BuiltUser, method: 'GET' | 'PATCH', body?: unknown) {
  const response = await fetch(`${api}/preferences`, {
    method,
    headers: {
      ...{ cookie, 'sec-fetch-site': 'same-origin', 'tributary-workspace': workspace.id },
      'content-type': 'application/json',
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Preferences }
}

describe('preferences', () => {
  it('begin with defaults, and a patch changes only the given fields', async () => {
    const workspace = await buildWorkspace(platform)
    const user = await buildMember(platform, workspace, 'billing')
    expect(await send(workspace, user, 'GET')).toEqual({ status: 200, body: defaultPreferences })
    const links = { columns: ['shortLink', 'clicks'], layout: 'cards' as const }
    await send(workspace, user, 'PATCH', { theme: 'dark', screens: { links }, builder: { tagIds: ['tag_1'] } })
    const { status, body } = await send(workspace, user, 'PATCH', {
      screens: { links: { pageSize: 100 } },
      builder: { domain: 'go.example.com' },
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      ...defaultPreferences,
      theme: 'dark',
      screens: { ...defaultPreferences.screens, links: { ...links, pageSize: 100, viewId: null } },
      builder: { ...defaultPreferences.builder, domain: 'go.example.com', tagIds: ['tag_1'] },
    })
    expect((await send(workspace, user, 'GET')).body).toEqual(body)
  })

  it('belong to one user in one workspace', async () => {
    const [workspace, other] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    const user = await buildMember(platform, workspace, 'viewer')
    await sql`INSERT INTO members (workspace_id, user_id, role) VALUES (${other.id}, ${user.id}, 'viewer')`.execute(
      platform.db,
    )
    await send(workspace, user, 'PATCH', { density: 'dense' })
    expect((await send(other, user, 'GET')).body).toEqual(defaultPreferences)
    const colleague = await buildMember(platform, workspace, 'owner')
    expect((await send(workspace, colleague, 'GET')).body).toEqual(defaultPreferences)
  })

  it('a personal key has those of its owner, and a machine key gets 403 with what to do', async () => {
    const workspace = await buildWorkspace(platform)
    const user = await buildMember(platform, workspace, 'member')
    const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'mine', userId: user.id })
    const call = createClient({ url: api, token: key })
    await call(updatePreferences, { body: { language: 'de' } })
    expect((await send(workspace, user, 'GET')).body).toMatchObject({ language: 'de' })
    await expect(createClient({ url: api, token: workspace.key })(getPreferences)).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('Sign in, or use a personal key: POST /tokens with the kind personal.'),
    })
  })

  it('concurrent changes of different fields are all stored', async () => {
    const workspace = await buildWorkspace(platform)
    const user = await buildMember(platform, workspace, 'member')
    const screens = ['links', 'events', 'analytics', 'customers'] as const
    await Promise.all(screens.map((name) => send(workspace, user, 'PATCH', { screens: { [name]: { pageSize: 10 } } })))
    const { body } = await send(workspace, user, 'GET')
    expect(screens.map((name) => body.screens[name].pageSize)).toEqual([10, 10, 10, 10])
  })

  it.each([
    [{ theme: 'pink' }],
    [{ unknown: 1 }],
    [{ screens: { links: { columns: Array.from({ length: 101 }, String) } } }],
    [{ screens: { other: {} } }],
    [{ builder: { domain: 'x'.repeat(256) } }],
    [{ dismissedHints: ['\u0000'] }],
  ])('400 or 422: %j is refused', async (body) => {
    const workspace = await buildWorkspace(platform)
    const { status } = await send(workspace, await buildMember(platform, workspace, 'member'), 'PATCH', body)
    expect([400, 422]).toContain(status)
  })

  it('values that another version stored are ignored, and the rest is shown', async () => {
    const workspace = await buildWorkspace(platform)
    const user = await buildMember(platform, workspace, 'member')
    await sql`INSERT INTO preferences (workspace_id, user_id, value)
      VALUES (${workspace.id}, ${user.id}, '{"theme": "dark", "sidebar": 1, "screens": {"maps": {}}}')`.execute(
      platform.db,
    )
    expect((await send(workspace, user, 'GET')).body).toEqual({ ...defaultPreferences, theme: 'dark' })
  })
})

import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openTestPlatform } from '../../../test/stack.ts'
import { newId } from '../../platform/ids.ts'
import { changeWorkspace, createWorkspace, findIpStorage, listWorkspaces, requireWorkspace } from './service.ts'

const platform = await openTestPlatform()
const newSlug = () => `w-${newId('ws').slice(-12)}`

describe('createWorkspace', () => {
  test('generates an id and a slug from the name, and uses the default plan', async () => {
    const suffix = newSlug()
    const workspace = await createWorkspace(platform, { name: `Müller & Söhne ${suffix}` })
    expect(workspace).toEqual({
      id: expect.stringMatching(/^ws_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/),
      name: `Müller & Söhne ${suffix}`,
      slug: `muller-sohne-${suffix}`,
      plan: 'enterprise',
      ip_storage: null,
      currency: 'usd',
      attribution_days: 90,
      attribution_model: 'last-click',
      allowed_hostnames: [],
      // These columns are unused; a later release drops them, when no older version runs beside it.
      logo: null,
      time_zone: 'UTC',
      week_start: 1,
      contact_email: null,
      created_at: expect.any(Date),
    })
  })

  test('the operator sets the default plan', async () => {
    const config = { ...platform.config, DEFAULT_PLAN: 'pro' as const }
    expect(await createWorkspace({ db: platform.db, config }, { name: newSlug() })).toMatchObject({ plan: 'pro' })
  })

  test.each(['free', 'pro', 'business', 'advanced', 'enterprise'] as const)('accepts the plan %s', async (plan) => {
    expect(await createWorkspace(platform, { name: newSlug(), plan })).toMatchObject({ plan })
  })

  test('a slug is unique, and one of many concurrent requests gets it', async () => {
    const slug = newSlug()
    const attempts = Array.from({ length: 10 }, () => createWorkspace(platform, { name: 'Any', slug }))
    const outcomes = await Promise.allSettled(attempts)
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(refusals).toHaveLength(9)
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({
        code: 'conflict',
        message: `The workspace slug ${slug} is taken. Choose another one.`,
      })
    }
  })

  test('a long name gives a slug of 48 characters', async () => {
    const workspace = await createWorkspace(platform, { name: `${newSlug()} ${'long '.repeat(30)}` })
    expect(workspace.slug).toHaveLength(48)
  })

  test.each([
    ['a slug that is too short', { name: 'Any', slug: 'ab' }],
    ['a slug that is too long', { name: 'Any', slug: 'a'.repeat(49) }],
    ['capitals', { name: 'Any', slug: 'Acme' }],
    ['a first dash', { name: 'Any', slug: '-acme' }],
    ['another character', { name: 'Any', slug: 'ac_me' }],
    ['a name without letters and no slug', { name: '!!!' }],
    ['a name in another script and no slug', { name: '株式会社' }],
  ])('%s is refused', async (_name, input) => {
    await expect(createWorkspace(platform, input)).rejects.toMatchObject({
      code: 'unprocessable_entity',
      message: expect.stringMatching(/^The slug ".*" must be 3 to 48 lower-case letters, digits and dashes\.$/),
    })
  })
})

test('a workspace is found by id and by slug', async () => {
  const workspace = await createWorkspace(platform, { name: newSlug() })
  expect(await requireWorkspace(platform, workspace.id)).toEqual(workspace)
  expect(await requireWorkspace(platform, workspace.slug)).toEqual(workspace)
})

test('the error for an unknown workspace names it and the command that lists workspaces', async () => {
  await expect(requireWorkspace(platform, 'nobody')).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no workspace nobody. `tributary workspace list` shows them.',
  })
})

test('all workspaces are listed by creation time', async () => {
  const first = await createWorkspace(platform, { name: newSlug() })
  const second = await createWorkspace(platform, { name: newSlug() })
  const ids = (await listWorkspaces(platform)).map(({ id }) => id)
  expect(ids.indexOf(first.id)).toBeGreaterThanOrEqual(0)
  expect(ids.indexOf(second.id)).toBeGreaterThan(ids.indexOf(first.id))
})

describe('findIpStorage', () => {
  test("returns the workspace's setting, else the installation's, even for an unknown workspace", async () => {
    const config = { ...platform.config, IP_STORAGE: 'truncated' as const }
    const [own, other] = [
      await createWorkspace(platform, { name: newSlug() }),
      await createWorkspace(platform, { name: newSlug() }),
    ]
    expect(await changeWorkspace(platform, own.slug, { ip_storage: 'none' })).toEqual({ ...own, ip_storage: 'none' })
    expect(await findIpStorage({ db: platform.db, config }, [own.id, other.id, own.id, 'ws_nobody'])).toEqual(
      new Map([
        [own.id, 'none'],
        [other.id, 'truncated'],
        ['ws_nobody', 'truncated'],
      ]),
    )
    expect(await changeWorkspace(platform, own.id, { ip_storage: null })).toEqual(own)
  })

  test('caches the setting, and a change takes effect within a minute', async () => {
    const workspace = await createWorkspace(platform, { name: newSlug() })
    const handles = { db: platform.db, config: { ...platform.config } }
    const stored = async () => (await findIpStorage(handles, [workspace.id])).get(workspace.id)
    const start = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => start)
    onTestFinished(() => clock.mockRestore())
    expect(await stored()).toBe(platform.config.IP_STORAGE)
    await changeWorkspace(platform, workspace.id, { ip_storage: 'full' })
    expect(await stored()).toBe(platform.config.IP_STORAGE)
    // The cache reads the clock at most once per millisecond.
    await new Promise((resolve) => setTimeout(resolve, 20))
    clock.mockImplementation(() => start + 60_000)
    expect(await stored()).toBe('full')
  })

  test('changing an unknown workspace fails', async () => {
    await expect(changeWorkspace(platform, 'nobody', { ip_storage: 'full' })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  test('findIpStorage without workspaces runs no query', async () => {
    expect(await findIpStorage(platform, [])).toEqual(new Map())
  })
})

import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { newId } from '../../platform/ids.ts'
import { createWorkspace } from '../workspaces/service.ts'
import { addDomain, domainForLink } from './service.ts'

const platform = await openTestPlatform()

async function bareWorkspace() {
  return createWorkspace(platform, { name: `d-${newId('ws').slice(-12)}` })
}

const newName = () => `${newId('dom').slice(-12)}.example`

describe('addDomain', () => {
  test('makes the first domain of a workspace primary, and not the second', async () => {
    const { id: workspaceId } = await bareWorkspace()
    const first = await addDomain(platform, { workspaceId, slug: newName() })
    const second = await addDomain(platform, { workspaceId, slug: newName() })
    expect(first).toMatchObject({ workspace_id: workspaceId, is_primary: true, verified: true, archived: false })
    expect(first.id).toMatch(/^dom_/)
    expect(second.is_primary).toBe(false)
  })

  test('makes one of many concurrently added domains primary, and refuses none', async () => {
    const { id: workspaceId } = await bareWorkspace()
    const domains = await Promise.all(
      Array.from({ length: 8 }, () => addDomain(platform, { workspaceId, slug: newName() })),
    )
    expect(domains.filter((domain) => domain.is_primary)).toHaveLength(1)
  })

  test('stores the domain name in lower case', async () => {
    const { id: workspaceId } = await bareWorkspace()
    const slug = newName()
    expect((await addDomain(platform, { workspaceId, slug: slug.toUpperCase() })).slug).toBe(slug)
  })

  test('refuses a domain name that is taken, in every workspace and in upper or lower case', async () => {
    const [ours, theirs] = [await bareWorkspace(), await bareWorkspace()]
    const slug = newName()
    await addDomain(platform, { workspaceId: ours.id, slug })
    for (const workspaceId of [ours.id, theirs.id]) {
      const again = addDomain(platform, { workspaceId, slug: slug.toUpperCase() })
      await expect(again).rejects.toMatchObject({ code: 'conflict', message: `The domain ${slug} is already in use.` })
    }
  })

  test.each([
    '',
    'with space.example',
    'https://go.example',
    'go.example/path',
    'go.example:443',
    'a..b',
    '-a.example',
    `${'a'.repeat(200)}.example`,
  ])('refuses %j as a host name', async (slug) => {
    const { id: workspaceId } = await bareWorkspace()
    await expect(addDomain(platform, { workspaceId, slug })).rejects.toMatchObject({
      code: 'unprocessable_entity',
      message: `${JSON.stringify(slug)} is not a host name.`,
    })
  })
})

describe('domainForLink', () => {
  test('returns the primary domain by default', async () => {
    const workspace = await buildWorkspace(platform)
    await addDomain(platform, { workspaceId: workspace.id, slug: newName() })
    expect(await domainForLink(contextIn(platform, workspace.id), undefined)).toBe(workspace.domain)
  })

  test('follows a change of the primary domain', async () => {
    const workspace = await buildWorkspace(platform)
    const second = await addDomain(platform, { workspaceId: workspace.id, slug: newName() })
    await sql`UPDATE domains SET is_primary = false WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    await sql`UPDATE domains SET is_primary = true WHERE id = ${second.id}`.execute(platform.db)
    expect(await domainForLink(contextIn(platform, workspace.id), undefined)).toBe(second.slug)
  })

  test('returns the shared domain for a workspace without a domain', async () => {
    const { id } = await bareWorkspace()
    expect(await domainForLink(contextIn(platform, id), undefined)).toBe(platform.config.SHORT_DOMAIN)
  })

  test('returns the requested domain of this workspace, in any case', async () => {
    const workspace = await buildWorkspace(platform)
    const { slug } = await addDomain(platform, { workspaceId: workspace.id, slug: newName() })
    expect(await domainForLink(contextIn(platform, workspace.id), slug.toUpperCase())).toBe(slug)
  })

  test('returns the shared domain when it is requested, whatever the workspace has', async () => {
    const workspace = await buildWorkspace(platform)
    const shared = platform.config.SHORT_DOMAIN
    expect(await domainForLink(contextIn(platform, workspace.id), shared.toUpperCase())).toBe(shared)
  })

  test('fails with the same message for an unknown domain and one of another workspace', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    for (const slug of [theirs.domain, newName()]) {
      await expect(domainForLink(contextIn(platform, ours.id), slug)).rejects.toMatchObject({
        code: 'not_found',
        message: `There is no domain ${slug} in this workspace.`,
      })
    }
  })
})

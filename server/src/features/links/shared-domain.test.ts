import { describe, expect, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { createLinks } from './bulk.ts'
import { createLink, updateLink } from './service.ts'
import { upsertLink } from './upsert.ts'

const platform = await openTestPlatform()
const workspace = await buildWorkspace(platform)
const ctx = contextIn(platform, workspace.id)
const domain = platform.config.SHORT_DOMAIN
const url = 'https://example.com/landing'
const refusal = {
  code: 'unprocessable_entity',
  message: `\`key\` in the body must not be \`_root\` on ${domain}, which all workspaces share. Use a domain of your own.`,
}

describe('the bare shared domain', () => {
  test('a link of the bare shared domain can not be created, upserted or created in bulk', async () => {
    const input = { url, domain, key: '_root' }
    await expect(createLink(ctx, input)).rejects.toMatchObject(refusal)
    await expect(upsertLink(ctx, { ...input, url: `${url}/upsert` })).rejects.toMatchObject(refusal)
    expect(await createLinks(ctx, [input])).toMatchObject([{ code: refusal.code, error: refusal.message }])
  })

  test('a link can not be moved to the bare shared domain', async () => {
    const shared = await buildLink(platform, workspace, { domain })
    const own = await buildLink(platform, workspace, { domain: workspace.domain, key: '_root' })
    await expect(updateLink(ctx, shared.id, { key: '_root' })).rejects.toMatchObject(refusal)
    await expect(updateLink(ctx, own.id, { domain })).rejects.toMatchObject(refusal)
  })

  test("a link of the bare domain is allowed on a workspace's own domain", async () => {
    const other = await buildWorkspace(platform)
    expect(await buildLink(platform, other, { domain: other.domain, key: '_root' })).toMatchObject({ key: '_root' })
  })
})

test.each(['ads.txt', 'Security.txt', 'google1234567890abcdef.html', 'BingSiteAuth.xml', 'sw.js'])(
  "the key %s is refused on the shared domain, and allowed on the workspace's own domain",
  async (key) => {
    await expect(createLink(ctx, { url, domain, key })).rejects.toMatchObject({ code: 'unprocessable_entity' })
    const other = await buildWorkspace(platform)
    expect((await buildLink(platform, other, { domain: other.domain, key })).key).toBe(key)
  },
)

test.each(['.well-known', '.well-known/security.txt', 'robots.txt', 'favicon.ico'])(
  'the key %s is refused on every domain',
  async (key) => {
    for (const host of [domain, workspace.domain]) {
      await expect(createLink(ctx, { url, domain: host, key })).rejects.toMatchObject({ code: 'unprocessable_entity' })
    }
  },
)

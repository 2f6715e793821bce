import type { NewLink } from '@tributary/contract/links'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import type { Ctx } from '../../platform/context.ts'
import { openPostgres } from '../../platform/postgres.ts'
import { updateDomain } from '../domains/change.ts'
import { addDomain } from '../domains/service.ts'
import { createFolder } from '../folders/service.ts'
import { createTag, deleteTag } from '../tags/service.ts'
import { checkLinks, createLinks } from './bulk.ts'
import { getLink } from './list.ts'
import { createLink } from './service.ts'

const platform = await openTestPlatform()
const url = 'https://example.com/landing'

/** A context that records the statements it sends. */
async function openRecorded(): Promise<{ ctx: Ctx; texts: string[]; domain: string }> {
  const workspace = await buildWorkspace(platform)
  const texts: string[] = []
  const db = openPostgres(platform.config, 'serving', ({ text }) => texts.push(text))
  onTestFinished(() => db.destroy())
  return { ctx: { ...contextIn(platform, workspace.id), db }, texts, domain: workspace.domain }
}

test('a link takes one statement, a link with tags two, and a bulk call of a hundred links one', async () => {
  const { ctx, texts } = await openRecorded()
  const tag = await createTag(ctx, { name: 'one' })
  // The first link of a second also reads the default domain and the number of links.
  const countStatements = async (work: () => Promise<unknown>) => {
    const counts: number[] = []
    for (let attempt = 0; attempt < 5; attempt++) {
      texts.splice(0)
      await work()
      counts.push(texts.filter((text) => !/^(begin|commit|SELECT pg_notify.*)$/s.test(text)).length)
    }
    return Math.min(...counts)
  }
  expect(await countStatements(() => createLink(ctx, { url }))).toBe(1)
  expect(await countStatements(() => createLink(ctx, { url, tagIds: [tag.id] }))).toBe(2)
  const items = Array.from({ length: 100 }, () => ({ url }))
  expect((await createLinks(ctx, items)).filter((made) => 'id' in made)).toHaveLength(100)
  expect(await countStatements(() => createLinks(ctx, items))).toBe(1)
})

test('a created link and its event equal the stored link', async () => {
  const { ctx } = await openRecorded()
  const tags = [await createTag(ctx, { name: 'Zeta' }), await createTag(ctx, { name: 'alpha' })]
  const folder = await createFolder(ctx, { name: 'folder', accessLevel: null })
  const inputs: NewLink[] = [
    { url },
    { url, key: 'Ünï/Code', tagNames: ['ZETA', 'alpha'], folderId: folder.id, password: 'secret' },
    { url, tagIds: tags.map(({ id }) => id).reverse(), externalId: 'x', tenantId: 't', archived: true, proxy: true },
    { url, geo: { DE: `${url}/de`, at: `${url}/at` }, ios: `${url}/ios`, expiresAt: '2030-01-31', utm_source: 'mail' },
    { url, testVariants: ['a', 'b'].map((name) => ({ url: `${url}/${name}`, percentage: 50 })), title: 'A "b" \\ c' },
  ]
  for (const input of inputs) {
    const link = await createLink(ctx, input)
    expect(link).toEqual(await getLink(ctx, { linkId: link.id }))
    const { rows } = await sql<{ body: { event: { link: unknown }; linkNumber: string; version: number } }>`
      SELECT body FROM (SELECT workspace_id, body FROM outbox UNION ALL SELECT workspace_id, body FROM outbox_published) m
      WHERE workspace_id = ${ctx.workspaceId} AND body ->> 'id' = ${link.id}`.execute(platform.db)
    expect(rows).toHaveLength(1)
    expect(rows[0]?.body.event.link).toEqual({ ...link, password: null })
    const stored = await sql<{ number: string; version: bigint }>`SELECT number::text, version FROM links
      WHERE id = ${link.id}`.execute(platform.db)
    expect(rows[0]?.body).toMatchObject({
      linkNumber: stored.rows[0]?.number,
      version: Number(stored.rows[0]?.version),
    })
  }
})

test('a link without a domain gets the primary domain, right after another one became primary', async () => {
  const { ctx, domain } = await openRecorded()
  expect((await createLink(ctx, { url })).domain).toBe(domain)
  const other = await addDomain(platform, { workspaceId: ctx.workspaceId, slug: `other.${domain}` })
  await updateDomain(ctx, other.slug, { primary: true })
  expect((await createLink(ctx, { url })).domain).toBe(other.slug)
})

test('a deleted tag is refused, and a bulk call with it creates the other links', async () => {
  const { ctx } = await openRecorded()
  const tag = await createTag(ctx, { name: 'gone' })
  await deleteTag(ctx, tag.id)
  const error = `\`tagIds\` in the body names tags that do not exist: ${tag.id}.`
  await expect(createLink(ctx, { url, tagIds: [tag.id] })).rejects.toMatchObject({ message: error })
  const made = await createLinks(ctx, [{ url, key: 'a' }, { url, tagIds: [tag.id] }, { url, key: 'A' }, { url }])
  expect(made).toMatchObject([{ key: 'a' }, { error, code: 'unprocessable_entity' }, { code: 'conflict' }, { url }])
})

test('a bulk call creates its links in the order of the request', async () => {
  const { ctx } = await openRecorded()
  const made = await createLinks(
    ctx,
    Array.from({ length: 20 }, () => ({ url })),
  )
  const { rows } = await sql<{
    id: string
  }>`SELECT id FROM links WHERE workspace_id = ${ctx.workspaceId} AND url = ${url}
    ORDER BY number`.execute(platform.db)
  expect(rows.map(({ id }) => id)).toEqual(made.map((link) => ('id' in link ? link.id : '')))
})

test('a check says what would be rejected and creates nothing', async () => {
  const { ctx } = await openRecorded()
  await createLinks(ctx, [{ url, key: 'taken' }])
  const items = [
    { url, key: 'free' },
    { url, key: 'taken' },
    { url: 'no' },
    { url, key: 'free' },
    { url, tagNames: 'x' },
  ]
  const checks = await checkLinks(ctx, items)
  const refused = 'unprocessable_entity'
  expect(checks.map(({ code }) => code)).toEqual([null, 'conflict', refused, 'conflict', refused])
  expect(checks[1]?.error).toContain('taken')
  expect((await createLinks(ctx, [{ url, key: 'free' }])).filter((made) => 'id' in made)).toHaveLength(1)
})

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { buildConversionLink, buildCustomer, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import type { Config } from '../../platform/config.ts'
import type { Ctx } from '../../platform/context.ts'
import { webhookScopes } from '../../roles/webhooks.ts'
import { deleteCustomer } from '../customers/service.ts'
import { createDomain } from '../domains/add.ts'
import { createFolder } from '../folders/service.ts'
import { createLinks } from '../links/bulk.ts'
import { createLink, deleteLink } from '../links/service.ts'
import { upsertLink } from '../links/upsert.ts'
import { createNote } from '../notes/service.ts'
import { createTag } from '../tags/service.ts'
import { createToken } from '../tokens/service.ts'
import { trackLead } from '../track/leads.ts'
import { createUtmTemplate } from '../utm-templates/service.ts'
import { createView } from '../views/service.ts'
import { createWebhook } from '../webhooks/service.ts'

const platform = await openTestPlatform()
const url = 'https://example.com/landing'

/** Creates a workspace in an installation with these quota settings. */
async function tenant(settings: Partial<Config>): Promise<Ctx> {
  const { id } = await buildWorkspace(platform)
  return limited(id, settings)
}

function limited(workspaceId: string, settings: Partial<Config>): Ctx {
  return contextIn({ ...platform, config: { ...platform.config, ...settings } }, workspaceId)
}

const refusal = (used: number, noun: string, setting: string) => ({
  code: 'forbidden',
  message: `This workspace has ${used} ${noun}; the operator's setting ${setting} allows ${used}. Delete some, or ask the operator to raise it.`,
})

const webhook = {
  name: 'one more',
  triggers: ['link.created' as const],
  linkScope: 'workspace' as const,
  folderIds: [],
  linkIds: [],
}
const newTag = (ctx: Ctx) => createTag(ctx, { name: randomUUID() })
const newView = (ctx: Ctx) => createView(ctx, { screen: 'links', name: randomUUID(), query: {}, visibility: 'shared' })
const newFolder = (ctx: Ctx) => createFolder(ctx, { name: randomUUID(), accessLevel: null })
const newDomain = (ctx: Ctx) => createDomain(ctx, { slug: `${randomUUID()}.example.com` })
const newKey = (ctx: Ctx) => createToken(ctx, { workspaceId: ctx.workspaceId, name: 'one more' })
const newWebhook = (ctx: Ctx) =>
  createWebhook(ctx, webhookScopes, { ...webhook, url: `https://${randomUUID()}.example.com/` })

describe("the operator's setting limits a workspace, even for concurrent requests", () => {
  test.each<[noun: string, setting: keyof Config, make: (ctx: Ctx) => Promise<unknown>, before: number]>([
    ['tags', 'TAGS_PER_WORKSPACE', newTag, 0],
    ['UTM templates', 'UTM_TEMPLATES_PER_WORKSPACE', (ctx) => createUtmTemplate(ctx, { name: randomUUID() }), 0],
    ['views', 'VIEWS_PER_WORKSPACE', newView, 0],
    ['notes', 'NOTES_PER_WORKSPACE', (ctx) => createNote(ctx, { day: '2026-02-28', text: 'Outage' }), 0],
    ['folders', 'FOLDERS_PER_WORKSPACE', newFolder, 0],
    ['domains', 'DOMAINS_PER_WORKSPACE', newDomain, 1],
    ['keys', 'KEYS_PER_WORKSPACE', newKey, 1],
    ['webhooks', 'WEBHOOKS_PER_WORKSPACE', newWebhook, 0],
    ['links', 'LINKS_PER_WORKSPACE', (ctx) => createLink(ctx, { url }), 0],
  ])('%s', async (noun, setting, make, before) => {
    const ctx = await tenant({ [setting]: 4 })
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => make(ctx)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4 - before)
    await expect(make(ctx)).rejects.toMatchObject(refusal(4, noun, setting))
  })
})

describe('links', () => {
  test('of a bulk request are refused one by one', async () => {
    const ctx = await tenant({ LINKS_PER_WORKSPACE: 3 })
    const outcomes = await createLinks(
      ctx,
      Array.from({ length: 5 }, () => ({ url })),
    )
    expect(outcomes.map((outcome) => ('error' in outcome ? outcome.code : 'made'))).toEqual([
      'made',
      'made',
      'made',
      'forbidden',
      'forbidden',
    ])
  })

  test('that are deleted make room, and an existing link can be upserted', async () => {
    const ctx = await tenant({ LINKS_PER_WORKSPACE: 1 })
    const { id } = await createLink(ctx, { url })
    expect((await upsertLink(ctx, { url, comments: 'again' })).id).toBe(id)
    await expect(createLink(ctx, { url })).rejects.toMatchObject({ code: 'forbidden' })
    await deleteLink(ctx, id)
    await createLink(ctx, { url })
    await expect(createLink(ctx, { url })).rejects.toMatchObject({ code: 'forbidden' })
  })

  test('are counted again before the first refusal, when the stored count is wrong', async () => {
    const ctx = await tenant({ LINKS_PER_WORKSPACE: 2 })
    await sql`INSERT INTO link_totals VALUES (${ctx.workspaceId}, '*', 'wrong.localhost', '', '', false, 1000)`.execute(
      platform.db,
    )
    await createLink(ctx, { url })
    await createLink(ctx, { url })
    await expect(createLink(ctx, { url })).rejects.toMatchObject(refusal(2, 'links', 'LINKS_PER_WORKSPACE'))
  })
})

describe('customers', () => {
  test('of new leads are refused, known customers are not', async () => {
    const { workspace, click } = await buildConversionLink(platform)
    const ctx = limited(workspace.id, { CUSTOMERS_PER_WORKSPACE: 1 })
    const lead = (customerExternalId: string, eventName = 'Sign up') =>
      trackLead(ctx, { clickId: click().id, eventName, customerExternalId, mode: 'async' })
    await lead('c-1')
    await expect(lead('c-2')).rejects.toMatchObject(refusal(1, 'customers', 'CUSTOMERS_PER_WORKSPACE'))
    await lead('c-1', 'Trial')
    await deleteCustomer(ctx, 'ext_c-1')
    await lead('c-2')
    await expect(lead('c-3')).rejects.toMatchObject({ code: 'forbidden' })
  })

  test('far from the limit are added concurrently without blocking each other', async () => {
    const workspace = await buildWorkspace(platform)
    await Promise.all(Array.from({ length: 10 }, () => buildCustomer(platform, workspace)))
    const result = await sql<{ count: bigint }>`SELECT sum(count)::bigint AS count FROM workspace_usage
      WHERE workspace_id = ${workspace.id} AND kind = 'customers'`.execute(platform.db)
    expect(result.rows[0]?.count).toBe(10n)
  })
})

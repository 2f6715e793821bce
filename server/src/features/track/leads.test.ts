import { randomUUID } from 'node:crypto'
import { newLead } from '@tributary/contract/track'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { buildConversionLink } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import type { Ctx } from '../../platform/context.ts'
import { updateLink } from '../links/service.ts'
import { changeWorkspace } from '../workspaces/service.ts'
import { trackLead } from './leads.ts'

const platform = await openTestPlatform()

async function setUp() {
  const { workspace, link, click } = await buildConversionLink(platform)
  const ctx = contextIn(platform, workspace.id)
  const externalId = `user-${randomUUID()}`
  const lead = (given: Record<string, unknown> = {}, on: Ctx = ctx) =>
    trackLead(
      on,
      newLead.parse({ clickId: click().id, eventName: 'Sign up', customerExternalId: externalId, ...given }),
    )
  return { workspace, link, click, ctx, externalId, lead }
}

async function conversions(ctx: Ctx) {
  const result = await sql<{ kind: string; link_number: bigint | null; attribution: string; quantity: number }>`
    SELECT kind, link_number, attribution, quantity FROM conversions WHERE workspace_id = ${ctx.workspaceId}
    ORDER BY number`.execute(ctx.db)
  return result.rows
}

describe('a lead', () => {
  test('a lead is attributed by the click id alone, and creates the customer', async () => {
    const { lead, link, click, externalId, ctx } = await setUp()
    const { id } = click()
    const result = await lead({ clickId: id, customerName: 'Ada', customerEmail: 'ada@example.com' })
    expect(result).toEqual({
      click: { id },
      link: {
        id: link.id,
        domain: link.domain,
        key: link.key,
        shortLink: link.shortLink,
        url: link.url,
        partnerId: null,
        programId: null,
        tenantId: null,
        externalId: null,
      },
      customer: { name: 'Ada', email: 'ada@example.com', avatar: null, externalId },
    })
    expect(await conversions(ctx)).toEqual([
      { kind: 'lead', link_number: expect.any(BigInt), attribution: 'last_click', quantity: 1 },
    ])
  })

  test('a repeated lead of a customer counts once and returns the first response', async () => {
    const { lead, click, ctx } = await setUp()
    const first = await lead({ clickId: click().id, eventQuantity: 3 })
    expect(await lead({ clickId: click().id })).toEqual(first)
    expect(await lead({ clickId: '' })).toEqual(first)
    await lead({ eventName: 'Trial' })
    expect((await conversions(ctx)).map(({ quantity }) => quantity)).toEqual([3, 1])
  })

  test('50 concurrent requests record one lead of one customer and get equal responses', async () => {
    const { lead, click, ctx } = await setUp()
    const { id } = click()
    const results = await Promise.all(Array.from({ length: 50 }, () => lead({ clickId: id })))
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1)
    expect(await conversions(ctx)).toHaveLength(1)
  })

  test('a deferred lead creates only the customer, and a later call without a click records the lead', async () => {
    const { lead, click, ctx, externalId } = await setUp()
    const { id } = click()
    await lead({ clickId: id, mode: 'deferred' })
    expect(await conversions(ctx)).toEqual([])
    expect(await lead({ clickId: '' })).toMatchObject({ click: { id }, customer: { externalId } })
    expect(await conversions(ctx)).toMatchObject([{ attribution: 'stored_click' }])
  })

  test('a lead of a customer without a name generates a name', async () => {
    const { lead } = await setUp()
    expect((await lead({ customerEmail: 'a@example.com' })).customer.name).toBe('a@example.com')
    expect((await lead({ customerExternalId: randomUUID() })).customer.name).toMatch(/^\w+ \w+$/)
  })
})

describe('a click', () => {
  test.each([
    ['of nobody', () => 'hello'],
    ['that was forged', (id: string) => `${id.slice(0, -1)}${id.endsWith('A') ? 'B' : 'A'}`],
  ])('a click id %s is not found', async (_, change) => {
    const { lead, click } = await setUp()
    await expect(lead({ clickId: change(click().id) })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a click of another workspace is not found', async () => {
    const [mine, foreign] = [await setUp(), await setUp()]
    await expect(mine.lead({ clickId: foreign.click().id })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a click on a disabled or deleted link is not found', async () => {
    const { lead, link, ctx } = await setUp()
    await sql`UPDATE links SET disabled_at = now() WHERE id = ${link.id}`.execute(ctx.db)
    await expect(lead()).rejects.toMatchObject({ code: 'not_found' })
  })

  test('a click on an expired link can have a lead', async () => {
    const { lead, link, ctx } = await setUp()
    await updateLink(ctx, link.id, { expiresAt: '2020-01-01T00:00:00Z' })
    expect((await lead()).link?.id).toBe(link.id)
  })

  test('a lead of an unknown customer without a click id gets 400', async () => {
    const { lead } = await setUp()
    await expect(lead({ clickId: '' })).rejects.toMatchObject({ code: 'bad_request', message: /clickId/ })
  })

  test('a click outside the attribution window is not attributed, and its lead has no link', async () => {
    const { lead, click, ctx } = await setUp()
    const old = click({ at: Date.now() - 91 * 86_400_000 })
    expect(await lead({ clickId: old.id })).toMatchObject({ click: { id: old.id }, link: null })
    expect(await conversions(ctx)).toEqual([
      { kind: 'lead', link_number: null, attribution: 'outside_window', quantity: 1 },
    ])
  })

  test("the first click gets the lead when the workspace's attribution model is first click", async () => {
    const { lead, click, ctx, workspace } = await setUp()
    await changeWorkspace(platform, workspace.id, { attribution_model: 'first-click' })
    const [first, second] = [click(), click()]
    await lead({ clickId: first.id })
    expect(await lead({ clickId: second.id, eventName: 'Trial' })).toMatchObject({ click: { id: first.id } })
    expect((await conversions(ctx)).map(({ attribution }) => attribution)).toEqual(['last_click', 'first_click'])
  })
})

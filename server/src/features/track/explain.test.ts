import { createClient } from '@tributary/contract/client'
import { explainAttribution as operation } from '@tributary/contract/events'
import { newLead, newSale } from '@tributary/contract/track'
import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { buildConversionLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { createFolder } from '../folders/service.ts'
import { neededDays } from './attribution.ts'
import { describeAttribution } from './attribution-text.ts'
import { explainAttribution } from './explain.ts'
import { trackLead } from './leads.ts'
import { trackRefund } from './refunds.ts'
import { trackSale } from './sales.ts'

const platform = await openTestPlatform()
const [hourMs, dayMs] = [3_600_000, 86_400_000]

/** A lead, a sale and a refund of a customer whose click has this age. */
async function setUp(ageMs: number) {
  const { workspace, link, click } = await buildConversionLink(platform)
  const ctx = contextIn(platform, workspace.id)
  const { id: clickId } = click({ at: Date.now() - ageMs })
  await trackLead(ctx, newLead.parse({ clickId, eventName: 'Sign up', customerExternalId: 'c1', eventQuantity: 2 }))
  const sell = (at = new Date()) =>
    trackSale({ ...ctx, now: () => at }, newSale.parse({ customerExternalId: 'c1', amount: 500, invoiceId: 'in_1' }))
  const ids = async () => {
    const { rows } = await sql<{ kind: string; id: string }>`SELECT kind, id FROM conversions
      WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    return Object.fromEntries(rows.map(({ kind, id }) => [kind, id])) as Record<string, string>
  }
  return { workspace, ctx, link, clickId, sell, ids }
}

test('a lead outside of the window has the click, and the window that it needs', async () => {
  const { ctx, link, clickId, ids } = await setUp(91 * dayMs)
  const { lead = '' } = await ids()
  expect(await explainAttribution(ctx, lead)).toEqual({
    eventId: lead,
    attributed: false,
    reason: 'outside_window',
    explanation: 'Not attributed: the click is older than the attribution window of 90 days.',
    remedy: expect.stringContaining('to 91 days or more'),
    click: {
      id: clickId,
      linkId: link.id,
      clickedAt: new Date(Math.floor((Date.now() - 91 * dayMs) / hourMs) * hourMs).toISOString(),
      neededDays: 91,
    },
    attributionDays: 90,
    attributionModel: 'last-click',
  })
  expect(await explainAttribution(ctx, `${lead}_2`)).toMatchObject({ reason: 'outside_window' })
})

test('a later sale, and its refund, need the window of the lead that they follow', async () => {
  const { ctx, sell, ids } = await setUp(91 * dayMs)
  await sell(new Date(Date.now() + 30 * dayMs))
  await trackRefund(ctx, { invoiceId: 'in_1' })
  const { sale = '', refund = '' } = await ids()
  for (const id of [sale, refund])
    expect(await explainAttribution(ctx, id)).toMatchObject({ reason: 'outside_window', click: { neededDays: 91 } })
})

test('a lead and a sale with a link name the rule that gave it', async () => {
  const { ctx, link, clickId, sell, ids } = await setUp(0)
  await sell()
  const { lead = '', sale = '' } = await ids()
  const click = { id: clickId, linkId: link.id, neededDays: 1 }
  expect(await explainAttribution(ctx, lead)).toMatchObject({ attributed: true, reason: 'last_click', click })
  expect(await explainAttribution(ctx, sale)).toMatchObject({ attributed: true, reason: 'lead', remedy: null, click })
})

test('a window that was lengthened since is said', async () => {
  const { ctx, workspace, ids } = await setUp(91 * dayMs)
  await sql`UPDATE workspaces SET attribution_days = 120 WHERE id = ${workspace.id}`.execute(platform.db)
  const { lead = '' } = await ids()
  const explained = await explainAttribution(ctx, lead)
  expect(explained.explanation).toContain('which is longer today: 120 days')
  expect(explained).toMatchObject({ attributed: false, remedy: null, attributionDays: 120 })
})

test('the event of a link in a hidden folder does not exist, and an old click on it is not told', async () => {
  for (const ageMs of [0, 91 * dayMs]) {
    const { ctx, link, ids } = await setUp(ageMs)
    const folder = await createFolder(ctx, { name: 'Hidden', accessLevel: null })
    await sql`UPDATE links SET folder_id = ${folder.id} WHERE id = ${link.id}`.execute(platform.db)
    const restricted = { ...ctx, folderAccess: { hidden: [folder.id], readOnly: [] } as never }
    const { lead = '' } = await ids()
    const explained = explainAttribution(restricted, lead)
    if (ageMs === 0) await expect(explained).rejects.toThrow(`There is no lead or sale ${lead}`)
    else expect(await explained).toMatchObject({ attributed: false, click: null })
  }
})

test('the needed window counts whole hours, and a click of the same hour needs one day', () => {
  const at = new Date('2026-11-15T12:30:00Z')
  const hour = Math.floor(at.getTime() / hourMs)
  expect([0, 24, 25, 48, 24 * 90, 24 * 90 + 1].map((hours) => neededDays(hour - hours, at))).toEqual([
    1, 1, 2, 2, 90, 91,
  ])
})

test('no window is recommended that is longer than the longest, and without a click none is named', () => {
  expect(describeAttribution('outside_window', 90, 3_651).remedy).toBeNull()
  expect(describeAttribution('outside_window', 90, undefined).remedy).toContain('a longer window')
  expect(describeAttribution('no_click', 90, undefined).remedy).toContain('clickId')
})

describe('explainAttribution', () => {
  const callAs = (token: string) => createClient({ url: inject('server').api, token })

  test('200 with the reason', async () => {
    const { workspace, ids } = await setUp(0)
    const { lead = '' } = await ids()
    const explained = await callAs(workspace.key)(operation, { params: { eventId: lead } })
    expect(explained).toMatchObject({ eventId: lead, reason: 'last_click' })
  })

  test('404 for an unknown event, and for one of another workspace', async () => {
    const { workspace, ids } = await setUp(0)
    const { lead = '' } = await ids()
    const other = await buildWorkspace(platform)
    await expect(callAs(other.key)(operation, { params: { eventId: lead } })).rejects.toMatchObject({ status: 404 })
    await expect(callAs(workspace.key)(operation, { params: { eventId: 'no' } })).rejects.toMatchObject({ status: 404 })
  })
})

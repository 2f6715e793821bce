import { randomUUID } from 'node:crypto'
import { createClient } from '@tributary/contract/client'
import { createGroup } from '@tributary/contract/groups'
import { createLink, getLink, updateLink } from '@tributary/contract/links'
import { retrievePartnerLinks } from '@tributary/contract/partner-links'
import {
  archivePartner,
  banPartner,
  bulkPartners,
  createPartner,
  deactivatePartner,
  getPartner,
  listPartners,
  mergePartners,
  reactivatePartner,
  unbanPartner,
} from '@tributary/contract/partners'
import { sql } from 'kysely'
import { expect, inject, it } from 'vitest'
import { buildPartner, buildProgram, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { addPartnerTotals } from '../partners/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function open() {
  const workspace = await buildWorkspace(platform)
  await buildProgram(platform, workspace)
  const call = createClient({ url: api, token: workspace.key })
  const partner = await call(createPartner, { body: { email: 'ann@example.com', tenantId: 't1' } })
  const linkId = partner.links?.[0]?.id ?? ''
  const link = () => call(getLink, { query: { linkId } })
  const status = async () => (await call(getPartner, { params: { id: partner.id } })).status
  const activities = async () => {
    const result = await sql<{ kind: string }>`SELECT a.kind FROM partner_activities a
      JOIN partners p ON p.number = a.partner_number WHERE p.id = ${partner.id} ORDER BY a.number`.execute(platform.db)
    return result.rows.map((row) => row.kind)
  }
  return { workspace, call, partner, linkId, link, status, activities }
}
const tenantId = 't1'
const isTime = expect.stringMatching(/^\d{4}-/)

it('a ban disables the links, and lifting it restores them with their own expiry', async () => {
  const { call, partner, linkId, link, activities } = await open()
  const expiresAt = '2040-01-01T00:00:00.000Z'
  await call(updateLink, { params: { linkId }, body: { expiresAt } })
  const own = await call(createLink, {
    body: { url: 'https://example.com', partnerId: partner.id, disabledAt: '2020-01-01' },
  })
  expect(await call(banPartner, { body: { tenantId, reason: 'spam' } })).toEqual({ partnerId: partner.id })
  const banned = await call(getPartner, { params: { id: partner.id } })
  expect(banned).toMatchObject({ status: 'banned', bannedReason: 'spam', bannedAt: isTime })
  expect(await link()).toMatchObject({ disabledAt: banned.bannedAt, expiresAt })
  await expect(call(banPartner, { body: { tenantId, reason: 'spam' } })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('is banned. Only partners that are approved or'),
  })
  await call(unbanPartner, { body: { tenantId, restoreCommissions: true } })
  expect(await call(getPartner, { params: { id: partner.id } })).toMatchObject({ status: 'approved', bannedAt: null })
  expect(await link()).toMatchObject({ disabledAt: '', expiresAt })
  expect((await call(getLink, { query: { linkId: own.id } })).disabledAt).toBe('2020-01-01T00:00:00.000Z')
  expect(await activities()).toEqual(['approved', 'banned', 'approved'])
  await expect(call(unbanPartner, { body: { tenantId } })).rejects.toMatchObject({ status: 400 })
})

it('a deactivated partner has no working links until it is reactivated, or banned and unbanned', async () => {
  const { call, link, status } = await open()
  await call(deactivatePartner, { body: { tenantId } })
  expect([await status(), (await link()).disabledAt]).toEqual(['deactivated', isTime])
  await expect(call(deactivatePartner, { body: { tenantId } })).rejects.toMatchObject({ status: 400 })
  await call(reactivatePartner, { body: { tenantId } })
  expect([await status(), (await link()).disabledAt]).toEqual(['approved', ''])
  await call(deactivatePartner, { body: { tenantId } })
  await call(banPartner, { body: { tenantId, reason: 'fraud' } })
  await call(unbanPartner, { body: { tenantId } })
  expect([await status(), (await link()).disabledAt]).toEqual(['approved', ''])
})

it('an archived partner keeps its links, and can be restored or deactivated', async () => {
  const { call, link, status } = await open()
  await call(archivePartner, { body: { tenantId } })
  expect([await status(), (await link()).disabledAt]).toEqual(['archived', ''])
  await expect(call(archivePartner, { body: { tenantId } })).rejects.toMatchObject({ status: 400 })
  await call(archivePartner, { body: { tenantId, archived: false } })
  expect(await status()).toBe('approved')
})

it('of concurrent bans, one succeeds', async () => {
  const { call, activities } = await open()
  const attempts = Array.from({ length: 6 }, () => call(banPartner, { body: { tenantId, reason: 'fraud' } }))
  const results = await Promise.allSettled(attempts)
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
  expect(await activities()).toEqual(['approved', 'banned'])
})

it('merging moves links, totals, tags and the tenant id, and the old id names the new partner', async () => {
  const { workspace, call, partner: source, linkId } = await open()
  const target = await call(createPartner, { body: { email: 'bob@example.com' } })
  const numbers = await sql<{ number: bigint }>`SELECT number FROM partners
    WHERE workspace_id = ${workspace.id} ORDER BY number`.execute(platform.db)
  const [one, two] = numbers.rows.map((row) => row.number)
  await addPartnerTotals(platform.db, [
    { partnerNumber: one ?? 0n, clicks: 5n, commissions: 7n },
    { partnerNumber: two ?? 0n, clicks: 2n },
  ])
  const merge = (sourcePartnerId: string, targetPartnerId: string) =>
    call(mergePartners, { body: { sourcePartnerId, targetPartnerId } })
  await expect(merge(source.id, source.id)).rejects.toMatchObject({ status: 400 })
  expect(await merge(source.id, target.id)).toEqual({ partnerId: target.id })
  const merged = await call(getPartner, { params: { id: source.id } })
  expect(merged).toMatchObject({ id: target.id, tenantId: 't1', totalClicks: 7, totalCommissions: 7 })
  expect(await call(listPartners)).toEqual([merged])
  expect(await call(getLink, { query: { linkId } })).toMatchObject({ partnerId: target.id, tenantId: 't1' })
  expect(await call(retrievePartnerLinks, { query: { partnerId: target.id } })).toHaveLength(2)
  await expect(merge(source.id, target.id)).rejects.toMatchObject({ status: 400 })
  const again = await call(createPartner, { body: { email: 'ann@example.com' } })
  expect(again.id).not.toBe(source.id)
})

it('a bulk action returns a result for each partner, and a dry run changes nothing', async () => {
  const { workspace, call, partner, status } = await open()
  const pending = await buildPartner(platform, workspace, { status: 'deactivated' })
  const partnerIds = ['pn_unknown', pending.id, partner.id]
  const body = { action: 'archive' as const, partnerIds }
  const expected = [
    { partnerId: 'pn_unknown', status: null, error: { code: 'not_found', message: expect.any(String) } },
    { partnerId: pending.id, status: 'deactivated', error: { code: 'bad_request', message: expect.any(String) } },
    { partnerId: partner.id, status: 'archived', error: null },
  ]
  expect(await call(bulkPartners, { body: { ...body, dryRun: true } })).toEqual(expected)
  expect(await status()).toBe('approved')
  expect(await call(bulkPartners, { body })).toEqual(expected)
  expect(await status()).toBe('archived')
  const { id: groupId } = await call(createGroup, { body: { name: 'g', slug: 'g' } })
  const moved = await call(bulkPartners, { body: { action: 'move', groupId, partnerIds: [partner.id] } })
  expect(moved).toEqual([{ partnerId: partner.id, status: 'archived', error: null }])
  expect(await call(listPartners, { query: { groupId } })).toMatchObject([{ id: partner.id }])
  for (const action of ['ban', 'move'] as const)
    await expect(call(bulkPartners, { body: { action, partnerIds } })).rejects.toMatchObject({ status: 400 })
})

it('a bulk action changes 50 partners in a transaction, and at most 100 with an Idempotency-Key', async () => {
  const { workspace } = await open()
  const partners = await Promise.all(Array.from({ length: 101 }, () => buildPartner(platform, workspace)))
  const send = async (action: string, headers = {}) => {
    const requestId = randomUUID()
    const response = await fetch(`${api}/partners/bulk`, {
      method: 'POST',
      headers: { authorization: `Bearer ${workspace.key}`, 'x-request-id': requestId, ...headers },
      body: JSON.stringify({ action, partnerIds: partners.map(({ id }) => id) }),
    })
    const entries = await sql<{ target_ids: string[]; transaction: string }>`SELECT target_ids,
      xmin::text AS transaction FROM audit_entries WHERE request_id = ${requestId} AND operation = 'bulkPartners'
      ORDER BY number`.execute(platform.db)
    return { status: response.status, text: await response.text(), entries: entries.rows }
  }
  const refused = await send('archive', { 'idempotency-key': randomUUID() })
  expect([refused.status, refused.entries]).toEqual([422, []])
  expect(refused.text).toContain('above the limit of 100 for a request with an `Idempotency-Key`')
  const { status, text, entries } = await send('archive')
  expect(status).toBe(200)
  expect(JSON.parse(text)).toEqual(partners.map(({ id }) => ({ partnerId: id, status: 'archived', error: null })))
  expect(entries.map(({ target_ids }) => target_ids.length)).toEqual([50, 50, 1])
})

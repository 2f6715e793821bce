import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { contextIn } from '../../../test/context.ts'
import { setZone } from '../../../test/dns-server.ts'
import { openOwnDatabase, takeMessages } from '../../../test/own-database.ts'
import { newId } from '../../platform/ids.ts'
import { createWorkspace } from '../workspaces/service.ts'
import { createDomain } from './add.ts'
import { updateDomain } from './change.ts'
import { checkDomain, checkDueDomains, pauseMs } from './check.ts'
import { proofs } from './records.ts'
import { getDomainRecords } from './service.ts'
import { type DomainRow, selectDomainBySlug } from './store.ts'

const dns = inject('dns')
let clock = Date.now()
const platform = { ...(await openOwnDatabase()), now: () => new Date(clock) }
const { id: workspaceId } = await createWorkspace(platform, { name: 'checks' })

async function claimed(): Promise<DomainRow> {
  const { slug } = await createDomain(contextIn(platform, workspaceId), { slug: newName() })
  return readRow(slug)
}

async function readRow(slug: string): Promise<DomainRow> {
  return (await selectDomainBySlug(platform.db, slug)) as DomainRow
}

async function prove(slug: string): Promise<void> {
  const [value] = proofs(platform.config.ENCRYPTION_KEYS, workspaceId, slug)
  await setZone(dns, `_tributary.${slug}`, [{ type: 'TXT', data: value }])
}

async function checkAll(): Promise<void> {
  while (await checkDueDomains(platform));
}

const newName = () => `${newId('dom').slice(-12)}.example.com`
const minuteMs = 60_000

test('a new domain is checked at once, and verified when its DNS record exists', async () => {
  const { slug } = await claimed()
  await prove(slug)
  await takeMessages(platform)
  await checkAll()
  expect(await readRow(slug)).toMatchObject({
    verified: true,
    checks: 1,
    checked_at: platform.now(),
    check_result: 'verified by TXT',
    updated_at: platform.now(),
  })
  expect(await takeMessages(platform)).toEqual([{ workspaceId, slug, deleted: false }])
})

test('a domain without a DNS record is checked again after 1, 2, 4 … minutes, an hour at most', async () => {
  const { slug } = await claimed()
  await takeMessages(platform)
  for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
    await checkAll()
    const row = await readRow(slug)
    expect(row).toMatchObject({ verified: false, checked_at: platform.now() })
    expect(row.check_result).toContain(`no TXT record _tributary.${slug} yet`)
    expect(row.check_at.getTime() - clock).toBe(minutes * minuteMs)
    clock += minutes * minuteMs - 1
    await checkAll()
    expect((await readRow(slug)).checks).toBe(row.checks)
    clock += 1
  }
  expect(await takeMessages(platform)).toEqual([])
  await prove(slug)
  await checkAll()
  expect(await readRow(slug)).toMatchObject({ verified: true, checks: 9 })
  expect(pauseMs(1_000_000)).toBe(60 * minuteMs)
})

test('a verified domain is never checked again', async () => {
  const { slug } = await claimed()
  await prove(slug)
  await checkAll()
  await setZone(dns, `_tributary.${slug}`, [])
  clock += 48 * 60 * minuteMs
  await checkAll()
  expect(await readRow(slug)).toMatchObject({ verified: true, checks: 1 })
})

test('a DNS failure of a domain check is recorded, and the check is retried', async () => {
  const { slug } = await claimed()
  await setZone(dns, `_tributary.${slug}`, 'SERVFAIL')
  await checkAll()
  expect((await readRow(slug)).check_result).toMatch(/^DNS did not answer: the server failed/)
  await prove(slug)
  clock += minuteMs
  await checkAll()
  expect(await readRow(slug)).toMatchObject({ verified: true })
})

test('several workers share the domain checks: each domain is checked once', async () => {
  const domains = await Promise.all(Array.from({ length: 50 }, claimed))
  await Promise.all(domains.slice(0, 25).map(({ slug }) => prove(slug)))
  await takeMessages(platform)
  await Promise.all(Array.from({ length: 4 }, checkAll))
  const rows = await Promise.all(domains.map(({ slug }) => readRow(slug)))
  expect(rows.map((row) => row.checks)).toEqual(rows.map(() => 1))
  expect(rows.map((row) => row.verified)).toEqual(rows.map((_, index) => index < 25))
  expect(await takeMessages(platform)).toHaveLength(25)
})

test('a domain that a worker claimed for a check can be claimed again after a minute', async () => {
  const { slug } = await claimed()
  await sql`UPDATE domains SET check_at = ${new Date(clock + minuteMs)} WHERE slug = ${slug}`.execute(platform.db)
  await checkAll()
  expect((await readRow(slug)).checks).toBe(0)
  clock += minuteMs
  await checkAll()
  expect((await readRow(slug)).checks).toBe(1)
})

test('a domain that is renamed during a DNS check is not verified by that check', async () => {
  const before = await claimed()
  await prove(before.slug)
  const renamed = newName()
  await updateDomain(contextIn(platform, workspaceId), before.slug, { slug: renamed })
  expect(await checkDomain(platform, before)).toBeUndefined()
  expect(await readRow(renamed)).toMatchObject({ verified: false, checks: 0, check_result: null })
})

test("reading a domain's DNS records triggers a check, at most every ten seconds", async () => {
  const { slug } = await claimed()
  const ctx = contextIn(platform, workspaceId)
  expect(await getDomainRecords(ctx, slug)).toMatchObject({ verified: false, checkedAt: '', result: '' })
  for (let check = 0; check < 4; check++) {
    await checkAll()
    clock = (await readRow(slug)).check_at.getTime()
  }
  await checkAll()
  expect((await readRow(slug)).check_at.getTime() - clock).toBe(16 * minuteMs)
  await getDomainRecords(ctx, slug)
  expect((await readRow(slug)).check_at.getTime() - clock).toBe(10_000)
  clock += 60_000
  await getDomainRecords(ctx, slug)
  expect((await readRow(slug)).check_at.getTime() - clock).toBe(-50_000)
  await prove(slug)
  await checkAll()
  expect(await getDomainRecords(ctx, slug)).toMatchObject({
    verified: true,
    checkedAt: platform.now().toISOString(),
    result: 'verified by TXT',
  })
})

describe('with a related domain in another workspace', () => {
  async function claim(slug: string, workspaceId?: string) {
    const id = workspaceId ?? (await createWorkspace(platform, { name: newId('ws') })).id
    await createDomain(contextIn(platform, id), { slug })
    await setZone(dns, slug, [{ type: 'CNAME', data: 'cname.tributary.example' }])
    return { id, verified: (await checkDomain(platform, await readRow(slug)))?.verified }
  }

  test.each([
    ['a subdomain', (slug: string) => `go.${slug}`],
    ['a subdomain of a subdomain', (slug: string) => `a.b.c.${slug}`],
    ['a parent domain', (slug: string) => slug.slice(slug.indexOf('.') + 1)],
  ])('%s is not verified by a CNAME record', async (_where, claimed) => {
    const slug = `sub.${newId('dom').slice(-12).toLowerCase()}.example.net`
    const holder = await claim(slug)
    expect(holder.verified).toBe(true)
    expect((await claim(claimed(slug))).verified).toBe(false)
  })

  test('a subdomain is verified by a CNAME record for the workspace that has the parent domain', async () => {
    const slug = `${newId('dom').slice(-12).toLowerCase()}.example.net`
    const { id } = await claim(slug)
    expect((await claim(`go.${slug}`, id)).verified).toBe(true)
  })
})

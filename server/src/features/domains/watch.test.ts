import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { setZone, startDnsServer, type Zone } from '../../../test/dns-server.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { addDomain, findBrokenDomain } from './service.ts'
import { watchDueDomains } from './watch.ts'

const dns = await startDnsServer()
afterAll(() => dns[Symbol.asyncDispose]())
const cname = 'cname.tributary.example'
const own = await openOwnDatabase({ DNS_SERVERS: dns.address, DOMAIN_CNAME: cname })
const clock = { now: new Date() }
const platform = { ...own, now: () => clock.now }
const minuteMs = 60_000

async function buildDomain(zone: Zone) {
  const { id: workspaceId } = await buildWorkspace(platform)
  const { id, slug } = await addDomain(platform, { workspaceId, slug: `${randomUUID()}.example.com` })
  await setZone(dns, slug, zone)
  return { workspaceId, id, slug }
}

/** Checks what is due at this time. */
async function watch(minutes: number) {
  clock.now = new Date(clock.now.getTime() + minutes * minuteMs)
  while (await watchDueDomains(platform));
}

async function published() {
  const result = await sql<{ body: { domainId: string } }>`DELETE FROM outbox
    WHERE subject LIKE 'changes.%.domain-broken' RETURNING body`.execute(platform.db)
  return result.rows.map(({ body }) => body)
}

test('a domain that loses its record is published once as broken, and again after it worked', async () => {
  const domain = await buildDomain([{ type: 'CNAME', data: cname }])
  await watch(0)
  expect(await published()).toEqual([])
  await watch(61)
  await setZone(dns, domain.slug, [{ type: 'A', data: '203.0.113.9' }])
  await watch(360)
  const since = clock.now
  await watch(10)
  expect(await published()).toEqual([])
  expect(await findBrokenDomain({ ...platform, workspaceId: domain.workspaceId }, domain.id)).toBeUndefined()
  await watch(10)
  expect(await published()).toEqual([
    { workspaceId: domain.workspaceId, domainId: domain.id, since: since.toISOString() },
  ])
  expect(await findBrokenDomain({ ...platform, workspaceId: domain.workspaceId }, domain.id)).toMatchObject({
    slug: domain.slug,
    broken_since: since,
    problem: expect.stringContaining('It leads to 203.0.113.9 now.'),
  })
  for (let hour = 0; hour < 3; hour++) await watch(60)
  expect(await published()).toEqual([])
  await setZone(dns, domain.slug, [{ type: 'CNAME', data: cname }])
  await watch(60)
  expect(await findBrokenDomain({ ...platform, workspaceId: domain.workspaceId }, domain.id)).toBeUndefined()
  await setZone(dns, domain.slug, [])
  for (const minutes of [360, 10, 10]) await watch(minutes)
  expect(await published()).toHaveLength(1)
})

test('a domain is not broken while DNS does not answer, if it never worked, or after it was archived', async () => {
  const [silent, never, archived] = [
    await buildDomain([{ type: 'CNAME', data: cname }]),
    await buildDomain([]),
    await buildDomain([{ type: 'CNAME', data: cname }]),
  ]
  await watch(61)
  await setZone(dns, silent.slug, 'SERVFAIL')
  await setZone(dns, archived.slug, [])
  await sql`UPDATE domains SET archived = true WHERE id = ${archived.id}`.execute(platform.db)
  for (const minutes of [360, 10, 10, 10, 60]) await watch(minutes)
  const ids = (await published()).map(({ domainId }) => domainId)
  for (const { id } of [silent, never, archived]) expect(ids).not.toContain(id)
})

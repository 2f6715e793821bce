import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createClient } from '@tributary/contract/client'
import {
  createDomain,
  createDomainSetupPage,
  deleteDomainSetupPage,
  getDomainRecords,
  recheckDomain,
} from '@tributary/contract/domains'
import { sql } from 'kysely'
import { describe, expect, inject, it, test } from 'vitest'
import { buildMember, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { setZone } from '../../../test/dns-server.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { sleep } from '../../platform/clock.ts'
import { newId } from '../../platform/ids.ts'
import { readCertificate } from '../../platform/outbound.ts'
import { transaction } from '../../platform/postgres.ts'
import { createToken } from '../tokens/service.ts'
import { inspectDomain } from './inspect.ts'
import { proofs } from './records.ts'
import { createSetupPage } from './setup-page.ts'
import { statusPage } from './setup-page-html.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const dns = inject('dns')
const newName = () => `${newId('dom').slice(-12)}.example.com`

async function open() {
  const workspace = await buildWorkspace(platform)
  const call = createClient({ url: api, token: workspace.key })
  const { slug } = await call(createDomain, { body: { slug: newName() } })
  const [proof] = proofs(platform.config.ENCRYPTION_KEYS, workspace.id, slug)
  return { workspace, call, slug, proof, params: { slug } }
}

/** Forgets the last lookup, which would be returned again for five seconds. */
async function forget(workspaceId: string): Promise<void> {
  await sql`DELETE FROM domain_findings WHERE workspace_id = ${workspaceId}`.execute(platform.db)
}

describe('recheckDomain', () => {
  it('says which records are missing, different and found, and verifies the domain', async () => {
    const { call, params, slug, proof, workspace } = await open()
    const text = async () => (await call(recheckDomain, { params })).records.find(({ type }) => type === 'TXT')
    expect(await text()).toMatchObject({ purpose: 'ownership', status: 'missing', found: [] })
    await setZone(dns, `_tributary.${slug}`, [{ type: 'TXT', data: 'something else' }])
    expect(await text()).toMatchObject({ status: 'missing' })
    await forget(workspace.id)
    expect(await text()).toMatchObject({ status: 'different', found: ['something else'] })
    await setZone(dns, `_tributary.${slug}`, [{ type: 'TXT', data: proof }])
    await forget(workspace.id)
    const checked = await call(recheckDomain, { params })
    expect(checked).toMatchObject({ verified: true, nextCheckAt: null, certificate: { status: 'none' } })
    expect(checked.certificate.problem).toEqual(expect.any(String))
    expect(await call(getDomainRecords, { params })).toEqual(checked)
  })

  it('is for every role that reads domains, and 404 for a domain of another workspace', async () => {
    const { workspace, params } = await open()
    const user = await buildMember(platform, workspace, 'viewer')
    const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'mine', userId: user.id })
    expect(await createClient({ url: api, token: key })(recheckDomain, { params })).toMatchObject(params)
    const other = await open()
    await expect(other.call(recheckDomain, { params })).rejects.toMatchObject({ status: 404 })
  })
})

describe('inspectDomain', () => {
  const config = {
    ...platform.config,
    DOMAIN_CNAME: 'cname.example.net',
    DOMAIN_ADDRESSES: ['192.0.2.1', '2001:db8::1'],
  }

  it('reports CNAME and address records with what was found', async () => {
    const slug = newName()
    await setZone(dns, slug, [
      { type: 'A', data: '192.0.2.1' },
      { type: 'A', data: '192.0.2.9' },
    ])
    const { records } = await inspectDomain(config, { workspace_id: 'ws_test', slug })
    expect(records.map(({ type, status, found }) => [type, status, found])).toEqual([
      ['TXT', 'missing', []],
      ['CNAME', 'missing', []],
      ['A', 'found', ['192.0.2.1', '192.0.2.9']],
      ['AAAA', 'missing', []],
    ])
  })

  it('reports unknown when DNS fails', async () => {
    const slug = newName()
    await setZone(dns, `_tributary.${slug}`, 'SERVFAIL')
    const { records } = await inspectDomain(config, { workspace_id: 'ws_test', slug })
    expect(records[0]).toMatchObject({ status: 'unknown', found: [] })
  })
})

test('a certificate that browsers refuse is read with its end and the reason', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-certificate-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const options = ['-subj', '/O=Own CA/CN=localhost', '-days', '2', '-nodes', '-keyout', key, '-out', cert]
  await promisify(execFile)('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...options])
  const server = createServer({ key: await readFile(key), cert: await readFile(cert) })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const allow = {
    OUTBOUND_ALLOWED_PORTS: [[port, port] as [number, number]],
    OUTBOUND_ALLOWED_HOSTS: { names: [], ranges: ['127.0.0.1'] },
  }
  const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
  const read = (given = allow) =>
    readCertificate(`https://localhost:${port}/`, { timeoutMs: 2_000, allow: given, lookup })
  const certificate = await read()
  expect(certificate).toMatchObject({ issuer: 'Own CA', problem: expect.stringContaining('self signed') })
  expect(certificate.validTo.getTime()).toBeGreaterThan(Date.now())
  await expect(read({ ...allow, OUTBOUND_ALLOWED_HOSTS: { names: [], ranges: [] } })).rejects.toMatchObject({
    reason: 'private',
  })
  await new Promise((resolve) => server.close(resolve))
  await expect(read()).rejects.toMatchObject({ reason: 'unreachable' })
  await rm(folder, { recursive: true })
})

describe('the setup page', () => {
  it('shows the records to every visitor with its link, until it is deleted or replaced', async () => {
    const { call, params, slug, proof } = await open()
    const { url, expiresAt } = await call(createDomainSetupPage, { params })
    expect(new URL(url).searchParams.get('token')).toMatch(/^\w{32}$/)
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(29 * 24 * 3_600_000)
    const response = await fetch(url)
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(response.headers.get('cache-control')).toBe('no-store')
    for (const text of [slug, proof, 'Not found yet']) expect(html).toContain(text)
    const { url: next } = await call(createDomainSetupPage, { params })
    expect((await fetch(url)).status).toBe(404)
    expect((await fetch(next)).status).toBe(200)
    await call(deleteDomainSetupPage, { params })
    expect((await fetch(next)).status).toBe(404)
    expect((await fetch(`${api}/domains/setup-page?token=unknown`)).status).toBe(404)
  })

  it('escapes what DNS returns', () => {
    const records = [
      {
        type: 'TXT' as const,
        name: 'a',
        value: 'b',
        purpose: 'ownership' as const,
        found: ['<script>1</script>'],
        status: 'different' as const,
      },
    ]
    const certificate = { status: 'unknown' as const, issuer: null, expiresAt: null, problem: null, checkedAt: '' }
    const html = statusPage({
      ...{ slug: 'a.example', verified: false, checkedAt: '', result: '', routed: false, nextCheckAt: null },
      ...{ records, certificate },
    })
    expect(html).toContain('&lt;script&gt;1&lt;/script&gt;')
    expect(html).not.toContain('<script')
  })
})

test('a setup page of a domain that is deleted at the same moment is 404', async () => {
  const { workspace, slug } = await open()
  let created: Promise<unknown> = Promise.resolve()
  await transaction(platform, async ({ db }) => {
    await sql`DELETE FROM domains WHERE workspace_id = ${workspace.id} AND slug = ${slug}`.execute(db)
    created = createSetupPage(contextIn(platform, workspace.id), slug)
    created.catch(() => {})
    // The page waits for the deletion meanwhile.
    await sleep(300)
  })
  await expect(created).rejects.toMatchObject({ code: 'not_found' })
})

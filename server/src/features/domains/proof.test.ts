import { describe, expect, inject, test } from 'vitest'
import { freePort } from '../../../../engines/port.ts'
import { setZone, type Zone } from '../../../test/dns-server.ts'
import { readConfig } from '../../platform/config.ts'
import { newId } from '../../platform/ids.ts'
import { findProof, hasTextProof } from './proof.ts'
import { proofs } from './records.ts'

const config = readConfig(inject('environment'))
const textOnly = { ...config, DOMAIN_CNAME: undefined, DOMAIN_ADDRESSES: [] }
const workspace_id = newId('ws')
const dns = inject('dns')
const cname = 'cname.tributary.example'

const newName = () => `${newId('dom').slice(-12)}.example.com`

async function found(zones: Record<string, Zone>, on = config) {
  const slug = newName()
  for (const [name, zone] of Object.entries(zones)) await setZone(dns, name.replace('@', slug), zone)
  const finding = await findProof(on, { workspace_id, slug })
  return { ...finding, result: finding.result.replaceAll(slug, '@') }
}

const valueFor = (slug: string, workspaceId = workspace_id) => proofs(config.ENCRYPTION_KEYS, workspaceId, slug)[0]

describe('TXT', () => {
  test.each([
    ['alone', (value: string) => [value]],
    ['among others', (value: string) => ['v=spf1 -all', value, 'else']],
    ['in pieces', (value: string) => [[value.slice(0, 9), value.slice(9)]]],
    ['with spaces around it', (value: string) => [` ${value} `]],
  ])('proves: %s', async (_name, texts) => {
    const slug = newName()
    const zone = texts(valueFor(slug)).map((data) => ({ type: 'TXT' as const, data }))
    await setZone(dns, `_tributary.${slug}`, zone)
    expect(await findProof(config, { workspace_id, slug })).toEqual({ verified: true, result: 'verified by TXT' })
    expect(await hasTextProof(config, { workspace_id, slug })).toBe(true)
  })

  test.each<[string, (slug: string) => string]>([
    ['of another workspace', (slug) => valueFor(slug, newId('ws'))],
    ['of another name', () => valueFor(newName())],
    ['without its end', (slug) => valueFor(slug).slice(0, -1)],
    ['with a suffix', (slug) => `${valueFor(slug)}0`],
    ['without its prefix', (slug) => valueFor(slug).replace('tributary-verify=', '')],
  ])('record does not prove ownership: the value %s', async (_name, value) => {
    const slug = newName()
    await setZone(dns, `_tributary.${slug}`, [{ type: 'TXT', data: value(slug) }])
    const result = `TXT record _tributary.${slug} has another value`
    expect(await findProof(textOnly, { workspace_id, slug })).toEqual({ verified: false, result })
    expect(await hasTextProof(config, { workspace_id, slug })).toBe(false)
  })

  test('record does not prove ownership at the domain name itself', async () => {
    const slug = newName()
    await setZone(dns, slug, [{ type: 'TXT', data: valueFor(slug) }])
    expect(await findProof(textOnly, { workspace_id, slug })).toEqual({
      verified: false,
      result: `no TXT record _tributary.${slug} yet`,
    })
  })

  test('record of an older encryption key proves ownership too', async () => {
    const slug = newName()
    const secrets = new Map([[9, Buffer.alloc(32, 9)], ...config.ENCRYPTION_KEYS.secrets])
    await setZone(dns, `_tributary.${slug}`, [{ type: 'TXT', data: valueFor(slug) }])
    const changed = { ...config, ENCRYPTION_KEYS: { current: 9, secrets } }
    expect(await findProof(changed, { workspace_id, slug })).toMatchObject({ verified: true })
  })
})

describe('CNAME', () => {
  test('record proves ownership, in any case and over several aliases', async () => {
    const proved = { verified: true, result: 'verified by CNAME' }
    expect(await found({ '@': [{ type: 'CNAME', data: cname }] })).toEqual(proved)
    expect(await found({ '@': [{ type: 'CNAME', data: cname.toUpperCase() }] })).toEqual(proved)
    const chain = {
      '@': [{ type: 'CNAME' as const, data: 'one.chain.example' }],
      'one.chain.example': [{ type: 'CNAME' as const, data: 'two.chain.example' }],
      'two.chain.example': [{ type: 'CNAME' as const, data: cname }],
    }
    expect(await found(chain)).toEqual(proved)
  })

  test.each<[string, Record<string, Zone>]>([
    ['of another name', { '@': [{ type: 'CNAME', data: 'other.example' }] }],
    ['of a subdomain of ours', { '@': [{ type: 'CNAME', data: `x.${cname}` }] }],
    ['of a name that ends like ours', { '@': [{ type: 'CNAME', data: `evil${cname}` }] }],
    [
      'in a loop',
      {
        '@': [{ type: 'CNAME', data: 'circle.example' }],
        'circle.example': [{ type: 'CNAME', data: 'circle.example' }],
      },
    ],
  ])('record does not prove ownership: an alias %s', async (_name, zones) => {
    const on = { ...config, DOMAIN_ADDRESSES: [] }
    expect(await found(zones, on)).toEqual({
      verified: false,
      result: `no TXT record _tributary.@ yet; @ has no CNAME record to ${cname}`,
    })
  })

  test('record is not queried when the operator has not set DOMAIN_CNAME', async () => {
    expect(await found({ '@': [{ type: 'CNAME', data: cname }] }, textOnly)).toEqual({
      verified: false,
      result: 'no TXT record _tributary.@ yet',
    })
  })
})

describe('A and AAAA', () => {
  const on = { ...config, DOMAIN_CNAME: undefined }

  test.each<[string, Zone]>([
    ['IPv4', [{ type: 'A', data: '192.0.2.10' }]],
    ['IPv6', [{ type: 'AAAA', data: '2001:db8:0:0::10' }]],
    [
      'both',
      [
        { type: 'A', data: '192.0.2.10' },
        { type: 'AAAA', data: '2001:db8::10' },
      ],
    ],
  ])('prove: %s', async (_name, zone) => {
    expect(await found({ '@': zone }, on)).toEqual({ verified: true, result: 'verified by address' })
  })

  test('records do not prove ownership when one of them is not ours', async () => {
    const mixed = [
      { type: 'A' as const, data: '192.0.2.10' },
      { type: 'A' as const, data: '198.51.100.7' },
    ]
    const elsewhere = '@ has the foreign address 198.51.100.7'
    expect(await found({ '@': mixed }, on)).toEqual({
      verified: false,
      result: `no TXT record _tributary.@ yet; ${elsewhere}`,
    })
    expect(await found({ '@': [{ type: 'A', data: '198.51.100.7' }] }, on)).toMatchObject({ verified: false })
  })

  test('records do not prove ownership when there are none', async () => {
    expect(await found({}, on)).toEqual({ verified: false, result: 'no TXT record _tributary.@ yet; @ has no address' })
  })
})

describe('when DNS does not answer', () => {
  test('the verification result says so', async () => {
    const unreachable = { ...config, DNS_SERVERS: [`127.0.0.1:${await freePort()}`] }
    const result = 'DNS did not answer: the server is unreachable'
    expect(await found({}, unreachable)).toEqual({ verified: false, result })
    expect(await hasTextProof(unreachable, { workspace_id, slug: newName() })).toBe(false)
    expect(await found({ '_tributary.@': 'SERVFAIL' }, textOnly)).toEqual({
      verified: false,
      result: 'DNS did not answer: the server failed',
    })
    expect(await found({ '_tributary.@': 'REFUSED' }, textOnly)).toMatchObject({
      result: 'DNS did not answer: the server refused the query',
    })
  })

  test('the DNS query times out after some seconds', async () => {
    const started = Date.now()
    const finding = await found({ '_tributary.@': 'silent', '@': 'silent' })
    expect(finding.verified).toBe(false)
    expect(finding.result).toBe('DNS did not answer: the query timed out')
    expect(Date.now() - started).toBeLessThan(6_000)
  })

  test('another DNS record may still prove ownership', async () => {
    expect(await found({ '_tributary.@': 'SERVFAIL', '@': [{ type: 'CNAME', data: cname }] })).toEqual({
      verified: true,
      result: 'verified by CNAME',
    })
  })
})

describe('a wildcard', () => {
  test.each<[string, Zone]>([
    ['CNAME', [{ type: 'CNAME', data: cname }]],
    ['A', [{ type: 'A', data: '192.0.2.10' }]],
  ])('record of type %s proves no ownership', async (_kind, zone) => {
    const parent = newName()
    await setZone(dns, `*.${parent}`, zone)
    const slug = `go.${parent}`
    const finding = await findProof(config, { workspace_id, slug })
    expect(finding.verified).toBe(false)
    expect(finding.result).toContain(`${slug} resolves through a wildcard record, so a TXT record is required`)
    await setZone(dns, `_tributary.${slug}`, [{ type: 'TXT', data: valueFor(slug) }])
    expect(await findProof(config, { workspace_id, slug })).toEqual({ verified: true, result: 'verified by TXT' })
  })
})

test('only a TXT record proves ownership when another workspace has a parent domain or subdomain', async () => {
  const slug = newName()
  await setZone(dns, slug, [{ type: 'CNAME', data: cname }])
  expect(await findProof(config, { workspace_id, slug })).toMatchObject({ verified: true })
  const finding = await findProof(config, { workspace_id, slug }, true)
  expect(finding.verified).toBe(false)
  expect(finding.result).toContain('another workspace has a parent domain or subdomain, so a TXT record is required')
  await setZone(dns, `_tributary.${slug}`, [{ type: 'TXT', data: valueFor(slug) }])
  expect(await findProof(config, { workspace_id, slug }, true)).toMatchObject({ verified: true })
})

import { describe, expect, test } from 'vitest'
import { blockingAddresses, checkPauseMs, domainPhase, foreignValues, recordState } from './domain-status.ts'
import type { DnsRecord, DomainStatus } from './queries.ts'

const record = (given: Partial<DnsRecord>): DnsRecord => ({
  ...{ type: 'A', name: 'go.example.com', value: '192.0.2.10', purpose: 'routing', found: [], status: 'missing' },
  ...given,
})
const status = (given: Partial<DomainStatus> = {}): DomainStatus => ({
  ...{ slug: 'go.example.com', verified: false, checkedAt: '', result: '', routed: null, nextCheckAt: null },
  ...{ records: [], certificate: { status: 'none', issuer: null, expiresAt: null, problem: null, checkedAt: '' } },
  ...given,
})
const valid = { ...status().certificate, status: 'valid' as const }

describe('the phase of a domain', () => {
  test.each([
    [status(), 'unverified', 6_000],
    [status({ routed: true }), 'unverified', 6_000],
    [status({ verified: true }), 'unrouted', 6_000],
    [status({ verified: true, routed: true }), 'uncertified', 30_000],
    [status({ verified: true, routed: true, certificate: valid }), 'ready', undefined],
  ] as const)('%#: %s', (given, phase, pauseMs) => {
    expect(domainPhase(given)).toBe(phase)
    expect(checkPauseMs(phase)).toBe(pauseMs)
  })
})

test('a missing record is not needed when another one has done its work', () => {
  const text = record({ type: 'TXT', purpose: 'ownership' })
  expect(recordState(text, status())).toBe('missing')
  expect(recordState(text, status({ verified: true }))).toBe('unneeded')
  expect(recordState(record({}), status({ verified: true, routed: false }))).toBe('missing')
  expect(recordState(record({ status: 'different' }), status({ routed: true }))).toBe('unneeded')
  expect(recordState(record({ status: 'found' }), status())).toBe('found')
})

test('an address that is not ours stands in the way of addresses and of the CNAME record', () => {
  const address = record({ status: 'different', found: ['192.0.2.10', '203.0.113.9'] })
  const alias = record({ type: 'CNAME', value: 'cname.example.com' })
  const domain = status({ records: [alias, address] })
  expect(foreignValues(address, domain)).toEqual(['203.0.113.9'])
  expect(blockingAddresses(alias, domain)).toEqual(['203.0.113.9'])
  expect(blockingAddresses(address, domain)).toEqual([])
})

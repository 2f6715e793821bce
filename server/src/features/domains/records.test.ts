import { expect, test } from 'vitest'
import { readConfig } from '../../platform/config.ts'
import { parseKeys } from '../../platform/seal.ts'
import { proofs, recordsFor } from './records.ts'

const [one, other] = ['1'.repeat(64), '2'.repeat(64)]
const keys = parseKeys(`1:${one}`)

test('a TXT value has 32 hex digits, the same every time', () => {
  const [proof, ...rest] = proofs(keys, 'ws_1', 'go.example.com')
  expect(proof).toMatch(/^tributary-verify=[0-9a-f]{32}$/)
  expect(rest).toEqual([])
  expect(proofs(keys, 'ws_1', 'go.example.com')).toEqual([proof])
})

test('another workspace, domain name or key has another TXT value', () => {
  const all = [
    ...proofs(keys, 'ws_1', 'go.example.com'),
    ...proofs(keys, 'ws_2', 'go.example.com'),
    ...proofs(keys, 'ws_1', 'go.example.org'),
    ...proofs(parseKeys(`1:${other}`), 'ws_1', 'go.example.com'),
  ]
  expect(new Set(all).size).toBe(4)
})

test('after a key rotation the new key gives the TXT value, and values of old keys still count', () => {
  const changed = parseKeys(`2:${other},1:${one}`)
  const [proof, ...older] = proofs(changed, 'ws_1', 'go.example.com')
  expect(proof).toBe(proofs(parseKeys(`2:${other}`), 'ws_1', 'go.example.com')[0])
  expect(older).toEqual(proofs(keys, 'ws_1', 'go.example.com'))
})

const required = {
  POSTGRES_URL: 'postgres://x/x',
  NATS_URL: 'nats://x',
  CLICKHOUSE_URL: 'http://x',
  VALKEY_URL: 'redis://x',
  CLICK_ID_KEYS: `1:${one}`,
  ENCRYPTION_KEYS: `1:${one}`,
}

test('the TXT record is always offered; CNAME and address records when the operator has set them', () => {
  const [value] = proofs(keys, 'ws_1', 'go.example.com')
  const text = { type: 'TXT', name: '_tributary.go.example.com', value }
  expect(recordsFor(readConfig(required), 'ws_1', 'go.example.com')).toEqual([text])
  const full = { ...required, DOMAIN_CNAME: 'CNAME.example.net', DOMAIN_ADDRESSES: '192.0.2.1, 2001:DB8:0::1' }
  expect(recordsFor(readConfig(full), 'ws_1', 'go.example.com')).toEqual([
    text,
    { type: 'CNAME', name: 'go.example.com', value: 'cname.example.net' },
    { type: 'A', name: 'go.example.com', value: '192.0.2.1' },
    { type: 'AAAA', name: 'go.example.com', value: '2001:db8::1' },
  ])
})

test.each([
  [{ DOMAIN_CNAME: 'https://cname.example.net' }, /DOMAIN_CNAME is "https:\/\/cname\.example\.net"/],
  [{ DOMAIN_ADDRESSES: '192.0.2.1,go.example.com' }, /DOMAIN_ADDRESSES .*"go\.example\.com\\?" is not an IP address/],
  [{ DNS_SERVERS: 'dns.example.com' }, /DNS_SERVERS .*is not a DNS server address/],
])('the setting %j is refused', (setting, message) => {
  expect(() => readConfig({ ...required, ...setting })).toThrow(message)
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stepContext } from '../../../../test/step-context.ts'
import type { RawClick } from '../../redirect/messages.ts'
import { putIp } from './put-ip.ts'
import { type StepContext, startDraft } from './step.ts'

type IpStorage = ReturnType<StepContext['findIpStorage']>

describe('stored addresses', () => {
  test.each<[IpStorage, string, string, string]>([
    ['full', '203.0.113.9', 'DE', '203.0.113.9'],
    ['full', '2001:db8:1:2:3::7', 'Unknown', '2001:db8:1:2:3::7'],
    ['full', '', 'US', ''],
    ['none', '203.0.113.9', 'US', ''],
    ['none', '2001:db8::7', 'Unknown', ''],
    ['truncated', '203.0.113.9', 'US', '203.0.113.0'],
    ['truncated', '203.0.113.0', 'US', '203.0.113.0'],
    ['truncated', '255.255.255.255', 'US', '255.255.255.0'],
    ['truncated', '::ffff:203.0.113.9', 'US', '203.0.113.0'],
    ['truncated', '2001:db8:1:2:3:4:5:6', 'US', '2001:db8:1::'],
    ['truncated', '2001:DB8:ABCD:ffff::1', 'US', '2001:db8:abcd::'],
    ['truncated', 'fe80::1%eth0', 'US', 'fe80::'],
    ['truncated', '::1', 'US', '::'],
    ['truncated', '', 'US', ''],
    ['truncated', 'unknown', 'US', ''],
    ['truncated', '203.0.113', 'US', ''],
    ['truncated', '203.0.113.9, 198.51.100.1', 'US', ''],
    ['eu-truncated', '203.0.113.9', 'US', '203.0.113.9'],
    ['eu-truncated', '203.0.113.9', 'CH', '203.0.113.9'],
    ['eu-truncated', '203.0.113.9', 'DE', '203.0.113.0'],
    ['eu-truncated', '2001:db8:1:2::7', 'NO', '2001:db8:1::'],
    ['eu-truncated', '203.0.113.9', 'GB', '203.0.113.0'],
    ['eu-truncated', '203.0.113.9', 'RE', '203.0.113.0'],
    ['eu-truncated', '203.0.113.9', 'Unknown', '203.0.113.0'],
    ['eu-truncated', '203.0.113.9', '', '203.0.113.0'],
  ])('%s: %s in %s is stored as %j', (ipStorage, ip, country, stored) => {
    expect(storeIp(ipStorage, ip, country)).toBe(stored)
  })
})

test('IP addresses in the EU, 7 of its regions, the 3 other EEA countries and the United Kingdom are truncated', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const countries = letters.flatMap((first) => letters.map((second) => first + second))
  expect(countries.filter((country) => storeIp('eu-truncated', '203.0.113.9', country) !== '203.0.113.9').length).toBe(
    27 + 7 + 3 + 1,
  )
})

test('truncated IP addresses of visitors in one network are equal', () => {
  const byte = fc.nat(255)
  fc.assert(
    fc.property(byte, byte, byte, byte, byte, (a, b, c, mine, yours) => {
      const network = `${a}.${b}.${c}`
      expect(storeIp('truncated', `${network}.${mine}`, 'US')).toBe(`${network}.0`)
      expect(storeIp('truncated', `${network}.${yours}`, 'US')).toBe(`${network}.0`)
    }),
  )
  fc.assert(
    fc.property(fc.ipV6(), (ip) => {
      expect(storeIp('truncated', ip, 'US')).toMatch(/^(\d+\.\d+\.\d+\.0|[0-9a-f:]*::)$/)
    }),
  )
})

test('putIp leaves the address of the logged click', () => {
  const draft = startDraft({ ip: '203.0.113.9' } as RawClick)
  putIp(draft, stepContext({ findIpStorage: () => 'none' }))
  expect([draft.raw.ip, draft.event.ip]).toEqual(['203.0.113.9', ''])
})

test('each workspace has its own IP storage setting', () => {
  const findIpStorage = (id: string): IpStorage => (id === 'ws_strict' ? 'none' : 'full')
  const stored = ['ws_strict', 'ws_other'].map((workspaceId) => {
    const outcome = putIp(startDraft({ ip: '203.0.113.9', workspaceId } as RawClick), stepContext({ findIpStorage }))
    return 'keep' in outcome && outcome.keep.event.ip
  })
  expect(stored).toEqual(['', '203.0.113.9'])
})

test.each([
  ['', '203.0.113.0'],
  ['DE', '203.0.113.0'],
  [' us ', '203.0.113.9'],
])("an approximate location does not allow storing a full IP address; a proxy's %j does", (hints, stored) => {
  expect(storeIp('eu-truncated', '203.0.113.9', 'US', { hints, isGeoCountryOnly: true })).toBe(stored)
})

function storeIp(
  ipStorage: IpStorage,
  ip: string,
  country: string,
  { hints = '', ...given }: { hints?: string } & Partial<StepContext> = {},
): string {
  const draft = startDraft({ ip, country: hints } as RawClick)
  const context = stepContext({ findIpStorage: () => ipStorage, ...given })
  const outcome = putIp({ ...draft, event: { ...draft.event, country } }, context)
  if (!('keep' in outcome)) throw new Error('a click with an invalid IP address is kept')
  return outcome.keep.event.ip
}

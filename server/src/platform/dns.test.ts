import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../engines/port.ts'
import { type DnsServer, setZone, startDnsServer, type Zone } from '../../test/dns-server.ts'
import { openDns } from './dns.ts'
import { parseAddress, parseDnsServer } from './ranges.ts'

let server: DnsServer
let counter = 0

beforeAll(async () => {
  server = await startDnsServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const open = () => openDns([server.address])

async function nameWith(zone: Zone): Promise<string> {
  const name = `n${counter++}.example.com`
  await setZone(server, name, zone)
  return name
}

describe('a DNS query', () => {
  test('returns TXT records, each joined', async () => {
    const name = await nameWith([
      { type: 'TXT', data: 'v=spf1 -all' },
      { type: 'TXT', data: ['first half, ', 'second half'] },
    ])
    expect((await open().texts(name)).sort()).toEqual(['first half, second half', 'v=spf1 -all'])
  })

  test('returns TXT records that need TCP', async () => {
    const texts = Array.from({ length: 40 }, (_, index) => `text number ${index} ${'x'.repeat(100)}`)
    const name = await nameWith(texts.map((data) => ({ type: 'TXT', data })))
    expect((await open().texts(name)).sort()).toEqual(texts.sort())
  })

  test('returns a CNAME target in lower case', async () => {
    expect(await open().aliases(await nameWith([{ type: 'CNAME', data: 'Cname.Example.NET' }]))).toEqual([
      'cname.example.net',
    ])
  })

  test('returns IPv4 and IPv6 addresses in their shortest form, also behind a CNAME', async () => {
    const name = await nameWith([
      { type: 'A', data: '192.0.2.1' },
      { type: 'A', data: '192.0.2.2' },
      { type: 'AAAA', data: '2001:db8:0:0:0:0:0:1' },
    ])
    const expected = ['192.0.2.1', '192.0.2.2', '2001:db8::1']
    expect((await open().addresses(name)).sort()).toEqual(expected)
    const alias = await nameWith([{ type: 'CNAME', data: name }])
    expect((await open().addresses(alias)).sort()).toEqual(expected)
  })

  test('returns an empty list for a missing name or record', async () => {
    const bare = await nameWith([{ type: 'A', data: '192.0.2.1' }])
    for (const name of [bare, 'nobody.example.com']) {
      expect(await open().texts(name)).toEqual([])
      expect(await open().aliases(name)).toEqual([])
    }
    expect(await open().addresses('nobody.example.com')).toEqual([])
    expect(await open().addresses(bare)).toEqual(['192.0.2.1'])
  })

  test('returns a changed record at once', async () => {
    const name = await nameWith([{ type: 'TXT', data: 'old' }])
    expect(await open().texts(name)).toEqual(['old'])
    await setZone(server, name, [{ type: 'TXT', data: 'new' }])
    expect(await open().texts(name)).toEqual(['new'])
  })
})

describe('a DNS query fails', () => {
  test.each<[Zone, string]>([
    ['SERVFAIL', 'the server failed'],
    ['REFUSED', 'the server refused the query'],
  ])('%s', async (zone, message) => {
    const name = await nameWith(zone)
    await expect(open().texts(name)).rejects.toThrow(message)
    await expect(open().aliases(name)).rejects.toThrow(message)
    await expect(open().addresses(name)).rejects.toThrow(message)
  })

  test('when the server is silent, within 6 seconds', async () => {
    const name = await nameWith('silent')
    const started = Date.now()
    await expect(open().addresses(name)).rejects.toThrow('the query timed out')
    expect(Date.now() - started).toBeLessThan(6_000)
  })

  test('when the server stops responding, within 6 seconds from the first of many lookups', async () => {
    const name = await nameWith('silent')
    const dns = open()
    const started = Date.now()
    for (let lookup = 0; lookup < 3; lookup++) await expect(dns.texts(name)).rejects.toThrow('the query timed out')
    expect(Date.now() - started).toBeLessThan(6_000)
  })

  test('when the server is unreachable, unless a second server responds', async () => {
    const unreachable = `127.0.0.1:${await freePort()}`
    await expect(openDns([unreachable]).texts('a.example.com')).rejects.toThrow('the server is unreachable')
    const name = await nameWith([{ type: 'TXT', data: 'here' }])
    expect(await openDns([unreachable, server.address]).texts(name)).toEqual(['here'])
  })
})

test.each(['192.0.2.1', '192.0.2.1:5353', '2001:db8::1', '[2001:db8::1]:5353'])('%s is a DNS server', (text) => {
  expect(parseDnsServer(text)).toBe(text)
})

test.each(['', 'dns.example.com', '192.0.2', '192.0.2.1:x', '192.0.2.1:99999'])('%j is not a DNS server', (text) => {
  expect(() => parseDnsServer(text)).toThrow(
    `${JSON.stringify(text)} is not a DNS server address, such as 192.0.2.1 or 192.0.2.1:53`,
  )
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:DB8:0::1', '2001:db8::1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
])('the address %s is %s', (text, address) => expect(parseAddress(text)).toBe(address))

test.each(['', '192.0.2', '192.0.2.1:80', '10.0.0.0/8', 'go.example.com', '0x7f.1'])('%j is not an address', (text) => {
  expect(() => parseAddress(text)).toThrow(`${JSON.stringify(text)} is not an IP address, such as`)
})

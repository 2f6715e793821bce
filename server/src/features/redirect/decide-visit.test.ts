import { describe, expect, test } from 'vitest'
import {
  decideFor,
  disabled,
  expired,
  type Given,
  geo,
  germany,
  lost,
  password,
  variants,
} from '../../../test/redirect/decide.ts'
import type { Visit } from './decide.ts'

describe('methods', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'get'])('%s is refused', (method) => {
    const refused = { status: 405, allow: 'GET, HEAD', index: false, record: false, bot: '', trigger: 'link' }
    for (const link of [{}, null, expired, disabled]) expect(decideFor({ link, visit: { method } })).toEqual(refused)
  })

  test('a password-protected link accepts POST, and no other link does', () => {
    const refused = { status: 405, allow: 'GET, HEAD, POST', record: false }
    expect(decideFor({ link: password, visit: { method: 'PUT' } })).toMatchObject(refused)
    expect(decideFor({ link: password, visit: { method: 'POST' } }).status).toBe(200)
  })

  test('a HEAD request gets the same answer as GET, and is recorded as a bot', () => {
    const visit = { method: 'HEAD' }
    expect(decideFor({ visit })).toEqual({ ...decideFor({}), bot: 'head' })
    expect(decideFor({ link: null, visit })).toEqual(decideFor({ link: null }))
  })
})

describe('a person or a bot', () => {
  test.each<[string, Partial<Visit>, string]>([
    ['a browser', {}, ''],
    ['HEAD', { method: 'HEAD' }, 'head'],
    ['a prefetch', { purpose: 'prefetch' }, 'prefetch'],
    ['a prerender', { purpose: 'prefetch;prerender' }, 'prefetch'],
    ['a preview', { purpose: 'preview' }, 'prefetch'],
    ['HEAD for a prefetch', { method: 'HEAD', purpose: 'prefetch' }, 'head'],
  ])('%s', (_name, visit, bot) => {
    expect(decideFor({ visit })).toMatchObject({ status: 302, record: true, bot })
    expect(decideFor({ link: { rewrite: true }, visit })).toMatchObject({ status: 200, record: true, bot })
    expect(decideFor({ link: { url: 'tel:1' }, visit })).toMatchObject({ status: 200, record: true, bot })
  })
})

describe('the trigger', () => {
  test.each([
    ['', 'link'],
    ['qr=1', 'qr'],
    ['a=b&qr=1', 'qr'],
    ['qr=1&a=b', 'qr'],
    ['a&qr=1&b', 'qr'],
    ['qr=0', 'link'],
    ['qr=', 'link'],
    ['qr=10', 'link'],
    ['xqr=1', 'link'],
    ['qr=1x', 'link'],
    ['QR=1', 'link'],
    ['a=qr=1', 'link'],
  ])('%j is recorded as %s', (query, trigger) => {
    expect(decideFor({ visit: { query } }).trigger).toBe(trigger)
    expect(decideFor({ link: null, visit: { query } }).trigger).toBe(trigger)
  })
})

describe('query and click id', () => {
  const link = { url: 'https://example.com/?x=y#part', trackConversion: true }

  test('the Location header has both, the recorded destination has no click id', () => {
    expect(decideFor({ link, visit: { query: 'a=b&qr=1' } })).toMatchObject({
      location: 'https://example.com/?x=y&a=b&trib_id=AbC-_1#part',
      destination: 'https://example.com/?x=y&a=b#part',
      trigger: 'qr',
    })
  })

  test("a visitor can't supply a click id, with or without tracking", () => {
    const visit = { query: 'trib_id=forged&a=b' }
    expect(decideFor({ link, visit }).location).toBe('https://example.com/?x=y&a=b&trib_id=AbC-_1#part')
    expect(decideFor({ link: { ...link, trackConversion: false }, visit })).toMatchObject({
      location: 'https://example.com/?x=y&a=b#part',
      destination: 'https://example.com/?x=y&a=b#part',
    })
  })

  test('device, country and variant destinations get query and click id as well', () => {
    const given = { trackConversion: true, geo, testVariants: variants }
    expect(decideFor({ link: given, visit: { ...germany, query: 'a' } }).location).toBe(`${geo.DE}?a&trib_id=AbC-_1`)
    expect(decideFor({ link: given }).location).toBe('https://example.com/a?trib_id=AbC-_1')
  })

  test("an app gets the click id but none of the visitor's parameters", () => {
    const open = { url: 'myapp://open?x=y', trackConversion: true }
    const decision = decideFor({ link: open, visit: { query: 'x=evil' } })
    expect(decision).toMatchObject({
      page: { url: 'myapp://open?x=y&trib_id=AbC-_1' },
      destination: 'myapp://open?x=y',
    })
  })
})

describe('files that are not links', () => {
  const files = { appleAppSiteAssociation: '{"applinks":{}}', assetLinks: '[]' }
  const json = 'application/json'
  test.each<[string, Given['domain'], number, object]>([
    ['.well-known/apple-app-site-association', files, 200, { type: json, text: '{"applinks":{}}' }],
    ['apple-app-site-association', files, 200, { type: json, text: '{"applinks":{}}' }],
    ['.well-known/assetlinks.json', files, 200, { type: json, text: '[]' }],
    ['.well-known/apple-app-site-association', {}, 404, { text: null }],
    ['.well-known/assetlinks.json', {}, 404, { text: null }],
    ['.well-known/assetlinks.json', { notFoundUrl: lost }, 404, { text: null }],
    ['.well-known/assetlinks.json', null, 404, { text: null }],
    ['robots.txt', {}, 200, { type: 'text/plain; charset=utf-8', text: 'User-agent: *\nDisallow:\n' }],
    ['favicon.ico', { notFoundUrl: lost }, 404, { text: null }],
  ])('%s', (path, given, status, file) => {
    for (const method of ['GET', 'HEAD']) {
      const decision = decideFor({ domain: given, link: null, key: null, visit: { path, method } })
      expect(decision).toMatchObject({ status, file, record: false })
      expect(decision.location).toBeUndefined()
    }
    expect(decideFor({ domain: given, link: null, key: null, visit: { path, method: 'POST' } }).status).toBe(405)
  })
})

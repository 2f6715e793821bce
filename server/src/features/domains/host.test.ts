import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hostProblem, parseHost, soughtHost } from './host.ts'

const config = {
  API_URL: 'https://api.example.com',
  SHORT_DOMAIN: 'links.example.com',
  DOMAIN_CNAME: 'cname.example.com',
  ENVIRONMENT: 'production' as const,
}

test.each([
  ['go.example.com', 'go.example.com'],
  ['GO.Example.COM', 'go.example.com'],
  ['go.example.com.', 'go.example.com'],
  ['www.example.com', 'www.example.com'],
  ['müller.example', 'xn--mller-kva.example'],
  ['MÜLLER.example', 'xn--mller-kva.example'],
  ['mu\u0308ller.example', 'xn--mller-kva.example'],
  ['xn--mller-kva.example', 'xn--mller-kva.example'],
  ['リンク.jp', 'xn--pck6f1a.jp'],
  ['go。example。com', 'go.example.com'],
  ['a-b.example', 'a-b.example'],
  ['1password.com', '1password.com'],
  ['localhost', 'localhost'],
])('%s is normalized to the host %s', (text, host) => {
  expect(parseHost(text)).toBe(host)
  expect(soughtHost(text)).toBe(host)
})

test.each([
  '',
  '.',
  '..',
  'a..b',
  '.example.com',
  'example.com..',
  '-a.example',
  'a-.example',
  'a_b.example',
  '*.example.com',
  'with space.example',
  ' go.example.com',
  'go.example.com\n',
  'go.example.com:443',
  'https://go.example.com',
  'go.example.com/path',
  'müller.example/path',
  'go.example.com?x',
  'go.example.com#x',
  'a@go.example.com',
  'go%2eexample.com',
  'go\\example.com',
  '[::1]',
  '::1',
  'example.123',
  'a\u0000b.example',
  'go.example.com\u200e/',
  `${'a'.repeat(64)}.example`,
  `${'ü'.repeat(60)}.example`,
])('%j is not a host name', (text) => expect(parseHost(text)).toBeUndefined())

test('an invalid host name is looked up unchanged, in lower case', () =>
  expect(soughtHost('Not A Host')).toBe('not a host'))

describe('hostProblem', () => {
  test.each([
    'go.example.com',
    'www.go.example.com',
    'example.com',
    'x.links.example.com',
    'xn--mller-kva.example',
    `${`${'a'.repeat(37)}.`.repeat(4)}${'b'.repeat(30)}.example`,
  ])('accepts %s', (host) => expect(hostProblem(host, config)).toBeUndefined())

  test.each([
    [undefined, 'must be a host name such as go.example.com'],
    ['example', 'must be a whole host name with a dot, such as go.example.com'],
    ['localhost', 'must be a whole host name with a dot, such as go.example.com'],
    ['go.localhost', 'must not end with .localhost'],
    ['192.0.2.1', 'must be a host name, not an IP address'],
    [parseHost('0x7f.1'), 'must be a host name, not an IP address'],
    [parseHost('１９２.0.2.1'), 'must be a host name, not an IP address'],
    ['links.example.com', 'must not be a host name of this installation'],
    ['api.example.com', 'must not be a host name of this installation'],
    ['cname.example.com', 'must not be a host name of this installation'],
    [`${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(8)}`, 'must be at most 190 characters long'],
  ])('%s', (host, problem) => expect(hostProblem(host, config)).toBe(problem))

  test('accepts subdomains of localhost in development', () => {
    expect(hostProblem('go.localhost', { ...config, ENVIRONMENT: 'development' })).toBeUndefined()
  })
})

test('normalizing a host name twice changes nothing, for any text', () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.domain(), fc.string({ unit: 'binary' }), fc.ipV4())
  fc.assert(
    fc.property(text, (text) => {
      const host = parseHost(text)
      if (host === undefined) return
      expect(host).toMatch(/^[a-z0-9.-]+$/)
      expect(parseHost(host)).toBe(host)
      expect(new URL(`http://${host}/`).hostname).toBe(host)
    }),
    { numRuns: 2_000 },
  )
})

test('any valid host name is accepted unchanged', () => {
  fc.assert(
    fc.property(fc.domain(), (name) => {
      expect(parseHost(name)).toBe(name.toLowerCase())
    }),
  )
})

import type { Random } from '../../../server/test/random.ts'
import { makeAddress, makeAgent, makeHeader, type Request } from './requests.ts'
import type { Tenant } from './tenant.ts'

const files = [
  'robots.txt',
  'favicon.ico',
  '.well-known/assetlinks.json',
  '.well-known/apple-app-site-association',
  'sitemap.xml',
]
const paths = [
  '%',
  '%00',
  '%ff',
  '..',
  '//',
  'a/../plain',
  '%2e%2e/plain',
  'plain/',
  'PLAIN',
  'plain%20',
  'plain?',
  '+',
  '%F0%9F%99%82',
]
const parameters = [
  'utm_source=a',
  'trib_id=abc',
  'password=x',
  'a=%',
  'a=%ff',
  'a=%F0%9F%99%82',
  'a[]=1',
  'qr=1',
  'a=b&a=c',
  '=',
  '&&',
  'url=//evil.example',
]

/** A visitor's request: mostly of an existing link, with anything in the host, the path, the query and the headers. */
export function makeVisit(random: Random, { objects, visited }: Tenant): Request & { host: string } {
  const isForm = random.chance(0.04)
  const headers: [string, string][] = [
    ['X-Forwarded-For', makeAddress(random)],
    ['User-Agent', makeAgent(random)],
  ]
  while (random.chance(0.2)) headers.push(makeHeader(random))
  if (isForm) headers.push(['Content-Type', 'application/x-www-form-urlencoded'])
  const method = isForm
    ? 'POST'
    : random.chance(0.9)
      ? 'GET'
      : random.pick(['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PROPFIND'])
  return {
    name: 'visit',
    method,
    host: makeHost(random, random.chance(0.9) ? visited.domain : objects.domain),
    target: `/${makePath(random, visited.keys)}${makeQuery(random)}`,
    headers,
    body: isForm ? makeForm(random) : undefined,
    isStream: false,
  }
}

function makeHost(random: Random, domain: string): string {
  if (random.chance(0.9)) return domain
  return random.pick([
    ...[
      domain.toUpperCase(),
      `${domain}.`,
      `${domain}:80`,
      `${domain}:99999`,
      `www.${domain}`,
      'unknown.example',
      '127.0.0.1',
    ],
    ...[
      '[::1]',
      'xn--nxasmq6b.example',
      `${'a'.repeat(63)}.example`,
      `${'a.'.repeat(130)}example`,
      'a b',
      '',
      'links.localhost',
      '%00',
      'é.example',
    ],
  ])
}

function makePath(random: Random, linkKeys: string[]): string {
  const roll = random.below(20)
  const key = random.pick(linkKeys)
  if (roll < 12) return encodeURI(key === '_root' ? '' : key)
  if (roll === 12) return random.pick(files)
  if (roll === 13) return random.pick(paths)
  if (roll === 14) return `${encodeURI(key)}${random.pick(paths)}`
  if (roll === 15) return 'x'.repeat(random.pick([190, 191, 2_000, 9_000]))
  if (roll === 16)
    return [...key]
      .map((letter) => [...Buffer.from(letter)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''))
      .join('')
  return `unknown-${random.below(1e9).toString(36)}`
}

function makeQuery(random: Random): string {
  if (random.chance(0.5)) return ''
  if (random.chance(0.03))
    return `?${random.pick(['a=b&', '%FF&', '%41=%FF+&']).repeat(random.pick([100, 1_000, 1_500]))}`
  return `?${Array.from({ length: random.below(5) }, () => random.pick(parameters)).join('&')}`
}

function makeForm(random: Random): Buffer {
  return Buffer.from(
    random.pick([
      'password=wrong',
      'password=correct-horse-battery',
      'password',
      '',
      'password=%',
      `password=${'x'.repeat(5_000)}`,
      '\0\xff',
    ]),
  )
}

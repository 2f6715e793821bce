import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ConfigError, configSummary, countVisitorProcesses, readConfig } from './config.ts'
import { settings } from './settings.ts'

const needed = {
  POSTGRES_URL: 'postgres://tributary:s3cret@db.example.com:5432/tributary',
  NATS_URL: 'nats://nats.example.com:4222',
  CLICKHOUSE_URL: 'http://default:s3cret@clickhouse.example.com:8123/default',
  VALKEY_URL: 'redis://:s3cret@valkey.example.com:6379',
  CLICK_ID_KEYS: `1:${'a1'.repeat(32)}`,
  ENCRYPTION_KEYS: `1:${'b2'.repeat(32)}`,
}

test.each([
  ['the number that is set', { REDIRECT_PROCESSES: '3' }, 3],
  ['one for each core of a server that only redirects', { ROLES: 'redirect' }, 4],
  ['one for every two cores beside other roles', {}, 2],
])('redirect processes are %s', (_, given, count) => {
  expect(countVisitorProcesses(readConfig({ ...needed, ...given }), 4)).toBe(count)
  expect(countVisitorProcesses(readConfig({ ...needed, ...given }), 1)).toBe(count === 3 ? 3 : 1)
})

test('a missing setting gets its default', () => {
  const { POSTGRES_URL, NATS_URL, CLICKHOUSE_URL, VALKEY_URL } = needed
  expect(readConfig(needed)).toMatchObject({
    POSTGRES_URL,
    NATS_URL,
    CLICKHOUSE_URL,
    VALKEY_URL,
    CLICK_ID_KEYS: { current: 1 },
    ENVIRONMENT: 'production',
    ROLES: ['api', 'redirect', 'worker'],
    HOST: '127.0.0.1',
    API_PORT: 3000,
    API_HEADER_BYTES: 131_072,
    REDIRECT_PORT: 3001,
    OPS_PORT: 3002,
    API_URL: 'http://127.0.0.1:3000',
    SHORT_DOMAIN: 'links.localhost',
    POSTGRES_POOL: undefined,
    REDIRECT_PROCESSES: undefined,
    API_HEAP_MEGABYTES: 160,
    REDIRECT_HEAP_MEGABYTES: 128,
    WORKER_HEAP_MEGABYTES: 240,
    POSTGRES_STATEMENT_TIMEOUT_MS: 15_000,
    NATS_REPLICAS: 1,
    CLICKHOUSE_CLUSTER: undefined,
    CLICK_ID_PARAMETER: 'trib_id',
    EVENT_PARTITIONS: 1,
    EVENT_RETENTION_DAYS: 30,
    CAPTURE_DEADLINE_MS: 1500,
    REDIRECT_CACHE_MEGABYTES: 32,
    SPOOL_DIRECTORY: './spool',
    SPOOL_MAX_MEGABYTES: 1024,
    INGEST_INTERVAL_MS: 1000,
    INGEST_BATCH_BYTES: 8_388_608,
    CONVERSION_BATCH_BYTES: 8_388_608,
    GEO_DATABASE: undefined,
    IP_STORAGE: 'eu-truncated',
    BOT_RANGES_FILE: undefined,
    DEFAULT_PLAN: 'enterprise',
    API_WORKSPACE_CONCURRENCY: 8,
    ENTERPRISE_REQUESTS_PER_MINUTE: 60_000,
    ENTERPRISE_ANALYTICS_PER_SECOND: 100,
    HISTORY_DAYS_BY_PLAN: {},
    QUERY_MAX_SECONDS: 25,
    QUERY_MAX_MEGABYTES: 0,
    QUERY_MAX_ROWS: 0,
    TRUSTED_PROXIES: [],
    WEBHOOK_CONCURRENCY: 10,
    WEBHOOK_WORKSPACE_CONCURRENCY: 50,
    WEBHOOK_STORAGE_MEGABYTES: 1_024,
    SMTP_URL: undefined,
    EMAIL_FROM: 'Tributary <tributary@localhost>',
    TLS_CERT: undefined,
    TLS_KEY: undefined,
    BODY_LIMIT_BYTES: 1_048_576,
    LINK_MAX_BYTES: 65_536,
    LOG_LEVEL: 'info',
    SHUTDOWN_DRAIN_MS: 0,
    SHUTDOWN_GRACE_MS: 8_000,
  })
})

test('an empty or blank value counts as missing', () => {
  const blank = { API_PORT: '  ', ROLES: '', LOG_LEVEL: ' ' }
  expect(readConfig({ ...needed, ...blank })).toEqual(readConfig(needed))
})

test('lists, addresses and numbers are parsed', () => {
  const config = readConfig({
    ...needed,
    ROLES: ' worker , api',
    TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8,127.0.0.1',
    API_URL: 'https://api.example.com//',
    NATS_URL: 'nats://a.example.com:4222, tls://b.example.com',
    API_PORT: '0',
  })
  expect(config.ROLES).toEqual(['worker', 'api'])
  expect(config.TRUSTED_PROXIES).toEqual(['10.0.0.0/8', 'fd00::/8', '127.0.0.1'])
  expect(config.API_URL).toBe('https://api.example.com')
  expect(config.NATS_URL).toBe('nats://a.example.com:4222, tls://b.example.com')
  expect(config.API_PORT).toBe(0)
})

test('allowed hosts and ports of outbound calls are parsed', () => {
  const { OUTBOUND_ALLOWED_HOSTS, OUTBOUND_ALLOWED_PORTS } = readConfig({
    ...needed,
    OUTBOUND_ALLOWED_HOSTS: 'Hooks.Internal., 10.1.0.0/16,127.0.0.1, fd00::/8',
    OUTBOUND_ALLOWED_PORTS: '8443, 9000-9100',
  })
  expect(OUTBOUND_ALLOWED_HOSTS).toEqual({
    names: ['hooks.internal'],
    ranges: ['10.1.0.0/16', '127.0.0.1', 'fd00::/8'],
  })
  expect(OUTBOUND_ALLOWED_PORTS).toEqual([
    [8443, 8443],
    [9000, 9100],
  ])
})

describe('a bad value is refused', () => {
  test.each<[string, Record<string, string>, string]>([
    ['ENVIRONMENT', { ENVIRONMENT: 'prod' }, 'ENVIRONMENT is "prod": Invalid option: expected one of'],
    ['ROLES', { ROLES: 'api,web' }, 'ROLES is "api,web": Invalid option: expected one of'],
    ['no role', { ROLES: ',' }, 'ROLES is ",": Too small'],
    ['no number', { API_PORT: 'eighty' }, 'API_PORT is "eighty": Invalid input: expected number'],
    ['no port', { API_PORT: '65536' }, 'API_PORT is "65536": Too big'],
    ['not whole', { POSTGRES_POOL: '2.5' }, 'POSTGRES_POOL is "2.5": Invalid input: expected int'],
    ['too few', { EVENT_PARTITIONS: '0' }, 'EVENT_PARTITIONS is "0": Too small'],
    ['no address', { API_URL: 'api.example.com' }, 'API_URL is "api.example.com": Invalid URL'],
    ['another protocol', { CLICKHOUSE_URL: 'tcp://h:9000' }, 'CLICKHOUSE_URL is "tcp://h:9000": Invalid URL'],
    ['one bad node', { NATS_URL: 'nats://a:4222,b' }, 'NATS_URL is "nats://a:4222,b": Invalid URL'],
    ['no such plan', { HISTORY_DAYS_BY_PLAN: 'free:30,gold:1' }, 'HISTORY_DAYS_BY_PLAN is "free:30,gold:1": "gold:1"'],
    ['no days', { HISTORY_DAYS_BY_PLAN: 'free:0' }, 'HISTORY_DAYS_BY_PLAN is "free:0": "free:0" is not a plan'],
    ['no host name', { SHORT_DOMAIN: 'a b' }, 'SHORT_DOMAIN is "a b": Invalid'],
    ['no mail server', { SMTP_URL: 'mail.example.com:25' }, 'SMTP_URL is "mail.example.com:25": Invalid'],
    ['no plan', { DEFAULT_PLAN: 'gold' }, 'DEFAULT_PLAN is "gold": Invalid option'],
    ['no parameter name', { CLICK_ID_PARAMETER: 'a&b' }, 'CLICK_ID_PARAMETER is "a&b": Invalid string'],
    ['no level', { LOG_LEVEL: 'loud' }, 'LOG_LEVEL is "loud": Invalid option'],
    [
      'no range',
      { TRUSTED_PROXIES: '10.0.0.0/8,10.0.0.0/40' },
      'TRUSTED_PROXIES is "10.0.0.0/8,10.0.0.0/40": "10.0.0.0/40" is not an address or CIDR range, such as 10.0.0.0/8 or fd00::/8.',
    ],
    ['no host', { OUTBOUND_ALLOWED_HOSTS: 'a,b c' }, '"b c" is not a host name, address or CIDR range'],
    ['no range of hosts', { OUTBOUND_ALLOWED_HOSTS: '10.0.0.0/40' }, '"10.0.0.0/40" is not an address or CIDR range'],
    ['no ports', { OUTBOUND_ALLOWED_PORTS: '80-70' }, '"80-70" is not a port or port range, such as 8443 or 9000-9100'],
    ['too high ports', { OUTBOUND_ALLOWED_PORTS: '65536' }, '"65536" is not a port or port range'],
    ['a certificate alone', { TLS_CERT: 'cert.pem' }, 'TLS_CERT and TLS_KEY go together: set both or neither.'],
    ['a private key alone', { TLS_KEY: 'key.pem' }, 'TLS_CERT and TLS_KEY go together: set both or neither.'],
  ])('%s', (_name, given, message) => {
    expect(() => readConfig({ ...needed, ...given })).toThrow(ConfigError)
    expect(readProblems({ ...needed, ...given })).toEqual([expect.stringContaining(message)])
  })

  test('the message has the description of the setting', () => {
    const [problem] = readProblems({ ...needed, NATS_REPLICAS: '9' })
    expect(problem).toMatch(/^NATS_REPLICAS is "9": .+ Replicas of each NATS stream; 3 for a cluster of three nodes\.$/)
  })
})

test('one error lists every invalid and every missing setting', () => {
  const problems = readProblems({ API_PORT: 'x', LOG_LEVEL: 'loud', TLS_KEY: 'key.pem' })
  const names = problems.map((problem) => problem.split(/[ :]/, 1)[0])
  expect(names.toSorted()).toEqual([...Object.keys(needed), 'API_PORT', 'LOG_LEVEL', 'TLS_CERT'].toSorted())
  expect(problems).toContain('POSTGRES_URL is not set. PostgreSQL URL: workspaces, keys, links, counters, money.')
})

test('a certificate with its private key is accepted', () => {
  const config = readConfig({ ...needed, TLS_CERT: 'cert.pem', TLS_KEY: 'key.pem' })
  expect([config.TLS_CERT, config.TLS_KEY]).toEqual(['cert.pem', 'key.pem'])
})

describe('secrets', () => {
  const secret = 's3cret'

  test('are masked in the summary of all settings', () => {
    const summary = configSummary({ ...needed, POSTGRES_POOL: '7' })
    expect(Object.keys(summary)).toEqual(Object.keys(settings))
    expect(summary).toMatchObject({
      POSTGRES_URL: 'postgres://tributary:***@db.example.com:5432/tributary',
      CLICKHOUSE_URL: 'http://default:***@clickhouse.example.com:8123/default',
      VALKEY_URL: 'redis://:***@valkey.example.com:6379',
      NATS_URL: needed.NATS_URL,
      CLICK_ID_KEYS: '***',
      POSTGRES_POOL: '7',
      API_PORT: '3000',
      TLS_CERT: '',
    })
  })

  test('the rest of an address stays readable', () => {
    const shown = configSummary({
      POSTGRES_URL: 'postgres://tributary@db/name',
      NATS_URL: `nats://${secret}@a, nats://b`,
    })
    expect(shown).toMatchObject({ POSTGRES_URL: 'postgres://***@db/name', NATS_URL: 'nats://***@a, nats://b' })
  })

  test.each([
    ['NATS_URL', `nats://user:${secret}@a:4222,nats://user:${secret}@b:4222`],
    ['NATS_URL', `nats://${secret}@a:4222`],
    ['POSTGRES_URL', `postgres://user:${secret}@x@${secret}/y@db/name`],
    ['POSTGRES_URL', `postgres://db/name?user=u&password=${secret}&sslmode=require`],
    ['POSTGRES_URL', `user:${secret}@db/name`],
    ['POSTGRES_URL', `mysql://user:${secret}@db/name`],
    ['VALKEY_URL', `redis://default:${secret}/@valkey`],
    ['SMTP_URL', `smtps://user:${secret}@mail.example.com:465`],
    ['CLICK_ID_KEYS', `1:${secret}`],
    ['ENCRYPTION_KEYS', `1:${secret}`],
  ])('of %s=%s appear nowhere', (name, value) => {
    const environment = { ...needed, [name]: value, API_PORT: 'x' }
    expect(configSummary(environment)[name]).not.toContain(secret)
    expect(configSummary(environment)[name]).toContain('***')
    expect(readProblems(environment).join()).not.toContain(secret)
  })
})

function readProblems(environment: Record<string, string>): string[] {
  try {
    readConfig(environment)
  } catch (error) {
    const [title, ...problems] = (error as Error).message.split('\n- ')
    expect(title).toBe('The configuration is not usable:')
    return problems
  }
  return []
}

test('a file of ranges is parsed, or refused with the line number', () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-'))
  const BOT_RANGES_FILE = join(folder, 'ranges.txt')
  writeFileSync(BOT_RANGES_FILE, '# data centres\n198.51.100.0/24\n')
  expect(readConfig({ ...needed, BOT_RANGES_FILE }).BOT_RANGES_FILE?.has('198.51.100.7')).toBe(true)
  writeFileSync(BOT_RANGES_FILE, '198.51.100.0/24\n198.51.100.0/64\n')
  expect(() => readConfig({ ...needed, BOT_RANGES_FILE })).toThrow(
    /BOT_RANGES_FILE is ".+ranges\.txt": line 2: "198\.51\.100\.0\/64" is not an address or CIDR range/,
  )
  rmSync(folder, { recursive: true })
  expect(() => readConfig({ ...needed, BOT_RANGES_FILE })).toThrow(/BOT_RANGES_FILE is .+: the file can't be read/)
})

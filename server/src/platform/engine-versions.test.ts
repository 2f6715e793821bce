import { expect, test } from 'vitest'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { ConfigError } from './config.ts'
import {
  type Engine,
  inProcessProblem,
  judgeVersion,
  judgeVersions,
  readEngines,
  requireSupportedEngines,
  supportedVersions,
} from './engine-versions.ts'
import { openLog } from './log.ts'

const platform = await openTestPlatform()
const withinMs = 60_000

test.each<[Engine, string, string]>([
  ['postgres', '14.19 (Debian 14.19-1)', 'too old'],
  ['postgres', '15.18 (Debian 15.18-0+deb12u1)', 'supported'],
  ['postgres', '18.4', 'supported'],
  ['postgres', '19beta1', 'newer'],
  ['nats', '2.9.10', 'too old'],
  ['nats', '2.12.0', 'supported'],
  ['nats', '2.15.1', 'supported'],
  ['nats', '2.16.0-RC.1', 'newer'],
  ['valkey', '6.2.14', 'too old'],
  ['valkey', '7.0.15', 'supported'],
  ['valkey', '8.1.3', 'supported'],
  ['valkey', '9.0.0', 'newer'],
  ['clickhouse', '18.16.1', 'too old'],
  ['clickhouse', '25.2.9.1', 'too old'],
  ['clickhouse', '25.3.1.1', 'supported'],
  ['clickhouse', '25.12.1.1', 'supported'],
  ['clickhouse', '26.7.2.1', 'supported'],
  ['clickhouse', '26.10.1.1', 'newer'],
  ['clickhouse', 'no number', 'too old'],
])('%s %s is %s', (engine, found, verdict) => {
  expect(judgeVersion(engine, found).verdict).toBe(verdict)
})

test('an engine that is too old is refused with its name, both versions and what to do', () => {
  const judge = () => judgeVersions({ postgres: '18.4', nats: '2.9.10', clickhouse: '24.8.1.1', valkey: undefined })
  expect(judge).toThrow(ConfigError)
  expect(judge).toThrow(
    'NATS 2.9.10 is too old: Tributary needs 2.12 or newer. Upgrade NATS, then start Tributary again.\n' +
      'ClickHouse 24.8.1.1 is too old: Tributary needs 25.3 or newer. Upgrade ClickHouse, then start Tributary again.',
  )
})

test('the engines of this machine answer with their versions, and are supported', async () => {
  await eventually(async () => {
    const { versions, isClickHouseInProcess } = await readEngines(platform, { withinMs })
    expect(judgeVersions(versions).map(({ verdict }) => verdict)).toEqual(Array(4).fill('supported'))
    expect(isClickHouseInProcess).toBe(true)
  })
})

test('a process does not start on an engine below the minimum', async () => {
  for (const engine of Object.keys(supportedVersions) as Engine[]) {
    const supported = { ...supportedVersions, [engine]: { ...supportedVersions[engine], least: '99', newest: '99' } }
    const pattern = `${supported[engine].name} \\d+\\.\\S*.* is too old: Tributary needs 99 or newer`
    const check = () => requireSupportedEngines(platform, { supported, withinMs })
    await eventually(() => expect(check()).rejects.toThrow(new RegExp(pattern)))
  }
})

test('a redirect ignores ClickHouse, which it never uses', async () => {
  const supported = { ...supportedVersions, clickhouse: { name: 'ClickHouse', least: '99', newest: '99' } }
  const redirect = { ...platform, config: { ...platform.config, ROLES: ['redirect' as const] } }
  await requireSupportedEngines(redirect, { supported, withinMs })
})

test('only a worker warns: once of each newer engine, and once of ClickHouse in a Node process in production', async () => {
  const nats = { name: 'NATS', least: '2.1', newest: '2.2' }
  const readWarnings = async (role: 'api' | 'redirect' | 'worker', ENVIRONMENT: 'production' | 'development') => {
    const lines: string[] = []
    const destination = { write: (line: string) => void lines.push(line) }
    const config = { ...platform.config, ROLES: [role], ENVIRONMENT }
    const options = { supported: { ...supportedVersions, nats }, withinMs }
    await requireSupportedEngines({ ...platform, config, log: openLog('warn', destination) }, options)
    return lines.map((line) => JSON.parse(line).msg)
  }
  const newer = expect.stringMatching(/^NATS 2\.\d+\.\d+ is newer than 2\.2, .*upgrade Tributary/)
  expect(await readWarnings('worker', 'production')).toEqual([newer, inProcessProblem])
  expect(await readWarnings('worker', 'development')).toEqual([newer])
  expect(await readWarnings('api', 'production')).toEqual([])
  expect(await readWarnings('redirect', 'production')).toEqual([])
})

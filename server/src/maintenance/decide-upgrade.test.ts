import { describe, expect, test } from 'vitest'
import { judgeEngines, judgeMigrations, judgeTransactions } from './decide-upgrade.ts'

describe('the check of engines', () => {
  const tested = { postgres: '18.4', clickhouse: '26.7.2.1', nats: '2.15.0', valkey: '8.0.1' }
  const judge = (versions: Parameters<typeof judgeEngines>[0]['versions'], inProcess = false, isProduction = true) =>
    judgeEngines({ versions: { ...tested, ...versions }, isClickHouseInProcess: inProcess }, isProduction)

  test.each<[string, Parameters<typeof judge>, string[]]>([
    ['as tested', [{}], ['ok', 'ok', 'ok', 'ok']],
    ['one is too old', [{ nats: '2.9.10' }], ['ok', 'problem', 'ok', 'ok']],
    ['one is newer', [{ clickhouse: '27.1.1.1' }], ['ok', 'ok', 'ok', 'warning']],
    ['one is down', [{ valkey: undefined }], ['ok', 'ok', 'problem', 'ok']],
    ['ClickHouse in a Node process, in production', [{}, true], ['ok', 'ok', 'ok', 'ok', 'warning']],
    ['ClickHouse in a Node process, in development', [{}, true, false], ['ok', 'ok', 'ok', 'ok']],
  ])('%s', (_, input, expected) => {
    const checks = judge(...input)
    expect(checks.map(({ verdict }) => verdict)).toEqual(expected)
    expect(checks.every(({ verdict, next }) => (verdict === 'ok') === (next === undefined))).toBe(true)
  })
})

describe('the check of migrations', () => {
  const [one, two] = ['0001', '0002'].map((name) => ({ engine: 'postgres', name, checksum: name })) as [Named, Named]
  type Named = { engine: string; name: string; checksum: string }
  test.each<[string, Named[], Named[], object]>([
    ['none applied', [one], [], { verdict: 'ok', found: 'pending: postgres/0001', next: 'Next: tributary migrate.' }],
    ['some applied', [one, two], [one], { verdict: 'ok', next: 'Next: tributary backup, then tributary migrate.' }],
    ['all applied', [one, two], [one, two], { verdict: 'ok', found: 'up to date' }],
    ['a changed file', [one], [{ ...one, checksum: 'x' }], { verdict: 'problem', found: 'changed: postgres/0001' }],
    ['an unknown one applied', [one], [one, two], { verdict: 'problem', found: 'unknown: postgres/0002' }],
  ])('%s', (_, known, applied, expected) => {
    expect(judgeMigrations(known, applied)).toContainEqual(expect.objectContaining(expected))
  })
})

test('a long PostgreSQL transaction is a warning', () => {
  expect(judgeTransactions([])).toMatchObject({ verdict: 'ok' })
  expect(judgeTransactions([{ pid: 7, program: 'psql', seconds: 90 }])).toMatchObject({
    verdict: 'warning',
    found: 'psql (process 7, 90 s)',
  })
})

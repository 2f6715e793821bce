import { describe, expect, test } from 'vitest'
import { judgeMigrations, judgeTransactions, judgeVersions } from './decide-upgrade.ts'

test.each([
  ['as tested', { postgres: '18.4', clickhouse: '26.7.2.1', nats: '2.15.0', valkey: '8.0.1' }, []],
  [
    'the oldest',
    { postgres: '15.14 (Debian 15.14-0+deb12u1)', clickhouse: '25.3.1.1', nats: '2.12.0', valkey: '7.0.15' },
    [],
  ],
  [
    'too old',
    { postgres: '14.2', clickhouse: '24.8.1', nats: '2.9.10', valkey: '6.2' },
    ['postgres', 'clickhouse', 'nats', 'valkey'],
  ],
  ['one down', { postgres: '18', clickhouse: '26.7', nats: '2.15', valkey: '' }, ['valkey']],
])('versions of the engines: %s', (_, versions, bad) => {
  const checks = judgeVersions(versions)
  expect(checks.filter(({ verdict }) => verdict !== 'ok').map(({ check }) => check)).toEqual(bad)
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

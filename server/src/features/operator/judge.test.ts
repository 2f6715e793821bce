import { describe, expect, test } from 'vitest'
import type { BeatRow } from './beats-store.ts'
import { combineFigures, judgeBackups, judgeDisk, judgeEngine, judgeQueue, judgeRoles, worst } from './judge.ts'
import { parseRelease } from './update-check.ts'
import { isNewer, parseVersion, readVersion } from './version.ts'

const now = new Date('2026-11-18T12:00:00Z')
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000)
const beat = (given: Partial<BeatRow> = {}): BeatRow => ({
  ...{ id: 'one', role: 'worker', host: 'a', version: '1.0.0', figures: [] },
  ...{ started_at: ago(600), seen_at: ago(0.1) },
  ...given,
})
const run = (minutes: number, is_successful = true) => ({
  ...{ is_successful, details: {}, started_at: ago(minutes + 1), finished_at: ago(minutes) },
})
const day = 24 * 60

test.each([
  ['clicks', 0, 0, 'good'],
  ['clicks', 5_000, 61, 'waiting'],
  ['clicks', 5_000, 3_601, 'harm'],
  ['outbox', 10, 31, 'waiting'],
  ['outbox', 10, 601, 'harm'],
  ['conversions', null, 301, 'waiting'],
  ['webhooks', 1_001, null, 'waiting'],
  ['webhooks', null, null, 'good'],
  ['notifications', 3, 901, 'waiting'],
] as const)('a queue of %s with %s waiting for %s s is %s', (name, waiting, seconds, state) => {
  expect(judgeQueue(name, waiting, seconds)).toEqual({ name, state, waiting, oldestSeconds: seconds })
})

describe('a role', () => {
  const findState = (...beats: BeatRow[]) => judgeRoles(beats, now).find(({ role }) => role === 'worker')?.state

  test('needs a process that has reported in the last minute', () => {
    expect(findState(beat())).toBe('good')
    expect(findState(beat(), beat({ seen_at: ago(5) }))).toBe('good')
    expect(findState(beat({ seen_at: ago(1.1) }))).toBe('harm')
    expect(findState()).toBe('harm')
    expect(findState(beat({ role: 'api+redirect+worker' }))).toBe('good')
  })

  test('waits while processes of two versions run', () => {
    expect(findState(beat(), beat({ version: '1.1.0' }))).toBe('waiting')
    expect(findState(beat({ version: '0.9.0', seen_at: ago(5) }), beat())).toBe('good')
  })
})

test.each([
  ['a backup of today', run(10 * 60), undefined, 'good'],
  ['a backup of two days ago', run(2 * day), undefined, 'waiting'],
  ['a failure after the last backup', run(60), run(5, false), 'waiting'],
  ['a backup of eight days ago', run(8 * day), undefined, 'harm'],
  ['no backup', undefined, undefined, 'harm'],
  ['only failures', undefined, run(5, false), 'harm'],
])('%s', (_name, last, failure, state) => {
  expect(judgeBackups(last, failure, now)).toBe(state)
})

test('disks, engines and the whole', () => {
  expect([0.5, 0.09, 0.04].map((free) => judgeDisk('spool', free).state)).toEqual(['good', 'waiting', 'harm'])
  expect(judgeEngine('valkey', false)).toBe('waiting')
  expect(judgeEngine('postgres', false)).toBe('harm')
  expect(worst(['good', 'waiting', 'good'])).toBe('waiting')
  expect(worst(['good', 'harm', 'waiting'])).toBe('harm')
  expect(worst([])).toBe('good')
})

test('figures of several processes are combined by label', () => {
  const beats = [
    beat({
      figures: [
        ['lag', '0', 5],
        ['lag', '1', 2],
        ['other', '', 9],
      ],
    }),
    beat({ figures: [['lag', '0', 7]] }),
  ]
  expect([...combineFigures(beats, 'lag')]).toEqual([
    ['0', 7],
    ['1', 2],
  ])
  expect([...combineFigures(beats, 'lag', (one, other) => one + other)]).toEqual([
    ['0', 12],
    ['1', 2],
  ])
  expect(combineFigures(beats, 'none').size).toBe(0)
})

test('versions are compared by number', () => {
  expect(isNewer('1.10.0', '1.9.9')).toBe(true)
  expect(isNewer('1.9.9', '1.10.0')).toBe(false)
  expect(isNewer('1.0.0', '1.0.0')).toBe(false)
  expect([parseVersion('v1.2.3'), parseVersion('1.2'), parseVersion('1.2.3-rc1')]).toEqual([
    '1.2.3',
    undefined,
    undefined,
  ])
  expect(parseVersion(readVersion())).toBe(readVersion())
})

test.each([
  ['{"version":"1.2.3","url":"https://example.com/notes"}', { version: '1.2.3', url: 'https://example.com/notes' }],
  [
    '{"tag_name":"v2.0.0","url":"https://api.github.com/x","html_url":"https://github.com/x/releases/v2.0.0"}',
    { version: '2.0.0', url: 'https://github.com/x/releases/v2.0.0' },
  ],
  ['{"version":"1.2.3","url":"javascript:alert(1)"}', { version: '1.2.3', url: null }],
  ['{"version":"<script>"}', undefined],
  ['[]', undefined],
  ['null', undefined],
  ['not JSON', undefined],
])('%s says %j', (text, release) => {
  expect(parseRelease(text)).toEqual(release)
})

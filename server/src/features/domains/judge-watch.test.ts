import { describe, expect, test } from 'vitest'
import type { Findings } from './inspect.ts'
import { judgeWatch, observe, type Seen, unwatched, type Watch } from './judge-watch.ts'

const start = Date.parse('2026-11-17T00:00:00Z')
const minuteMs = 60_000
const problem = { problem: 'It leads to 203.0.113.9 now.' }

/** Checks a domain at the times that the rule chooses; returns the watch and the minutes of the checks. */
function follow(seen: Seen[], first: Watch = { ...unwatched, worked_at: new Date(start - 1) }) {
  let [watch, now] = [first, new Date(start)]
  const minutes: number[] = []
  for (const one of seen) {
    minutes.push((now.getTime() - start) / minuteMs)
    const judged = judgeWatch(watch, one, now)
    watch = judged.watch
    now = judged.nextAt
  }
  return { watch, minutes }
}

describe('a watched domain', () => {
  test('is broken since the first of three failures within 20 minutes', () => {
    const { watch, minutes } = follow([problem, problem, problem])
    expect(minutes).toEqual([0, 10, 20])
    expect(watch).toMatchObject({ broken_since: new Date(start), failures: 3, problem: problem.problem })
    expect(follow([problem, problem]).watch.broken_since).toBeNull()
  })

  test('works again after one good check, and then breaks anew', () => {
    expect(follow([problem, problem, 'working', problem, problem]).watch.broken_since).toBeNull()
    const { watch, minutes } = follow([problem, problem, problem, 'working', problem, problem, problem])
    expect(watch.broken_since).toEqual(new Date(start + (minutes[4] ?? 0) * minuteMs))
  })

  test('stays as it was while DNS does not answer', () => {
    expect(follow(['unknown', 'unknown', 'unknown', 'unknown']).watch.failures).toBe(0)
    const { watch } = follow([problem, 'unknown', problem, 'unknown', problem])
    expect(watch.broken_since).toEqual(new Date(start))
  })

  test('never breaks if it never worked, such as behind another proxy', () => {
    expect(follow([problem, problem, problem, problem], unwatched).watch).toEqual(unwatched)
  })

  test('is checked every six hours while it works, and every hour while it is broken', () => {
    expect(follow(['working', 'working', 'working']).minutes).toEqual([0, 360, 720])
    expect(follow([problem, problem, problem, problem, problem]).minutes).toEqual([0, 10, 20, 80, 140])
  })
})

describe('what a check saw', () => {
  const expected = [
    { type: 'CNAME' as const, name: 'go.example.com', value: 'cname.tributary.example' },
    { type: 'A' as const, name: 'go.example.com', value: '192.0.2.10' },
  ]
  const none = { issuer: null, expiresAt: null, problem: null }
  type Status = Findings['records'][number]['status']
  const findings = (cname: Status, a: Status, found: string[] = [], certificate = {}): Findings => ({
    records: [
      { type: 'TXT', value: 'x', found: [], status: 'missing' },
      { type: 'CNAME', value: 'cname.tributary.example', found: [], status: cname },
      { type: 'A', value: '192.0.2.10', found, status: a },
    ],
    certificate: { status: 'none', ...none, ...certificate } as Findings['certificate'],
  })

  test.each([
    ['the CNAME record is right', findings('found', 'missing'), 'working'],
    ['the address is right', findings('missing', 'found', ['192.0.2.10']), 'working'],
    ['DNS did not answer', findings('unknown', 'missing'), 'unknown'],
    ['the certificate is not there yet', findings('found', 'missing', [], { status: 'none' }), 'working'],
    ['the certificate is valid', findings('found', 'missing', [], { status: 'valid' }), 'working'],
  ])('%s', (_name, found, seen) => {
    expect(observe(found, expected)).toBe(seen)
  })

  test.each([
    ['the name has no record', findings('missing', 'missing'), 'It has no such record now.'],
    ['the name leads elsewhere', findings('missing', 'different', ['203.0.113.9']), 'It leads to 203.0.113.9 now.'],
    [
      'the certificate expired',
      findings('found', 'missing', [], { status: 'invalid', problem: 'Expired.' }),
      'Expired.',
    ],
  ])('%s', (_name, found, text) => {
    expect(observe(found, expected)).toEqual({ problem: expect.stringContaining(text) })
  })
})

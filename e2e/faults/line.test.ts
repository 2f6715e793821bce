import { expect, test } from 'vitest'
import type { Counts } from './count.ts'
import { buildLine, formatTable } from './line.ts'
import { newTally, type Tally } from './load.ts'

const nothing: Counts = {
  rows: 0,
  doubled: 0,
  storedTwice: 0,
  bots: {},
  counters: new Map(),
  counted: 0,
  lost: new Map([[1, 0]]),
}
const tally: Tally = { ...newTally(), sent: 10, answered: 10, bots: { head: 2 }, byLink: new Map([['link_1', 10]]) }
const exact: Counts = {
  rows: 10,
  doubled: 0,
  storedTwice: 0,
  bots: { head: 2 },
  counters: new Map([['link_1', 10]]),
  counted: 10,
  lost: new Map([[1, 0]]),
}

const lineAfter = (after: Partial<Counts>, given: Partial<Tally> = {}, mayLose = false) =>
  buildLine('a fault', { tally: { ...tally, ...given }, before: nothing, after: { ...exact, ...after } }, mayLose)

test('a run whose clicks are stored and counted once has no problem', () => {
  expect(lineAfter({})).toMatchObject({ rows: 10, counters: 10, lost: 0, doubled: 0, failures: 0, problems: [] })
})

const wrong: [string, Partial<Counts>, Partial<Tally>, RegExp][] = [
  ['a lost row', { rows: 9, counted: 9 }, {}, /lost: 1, expected 0/],
  ['a doubled row', { rows: 11, doubled: 1, counted: 11 }, {}, /doubled: 1/],
  ['a counter that differs from its rows', { counted: 11 }, {}, /counters: 11, expected 10/],
  ['a counter of the wrong link', { counters: new Map([['link_2', 10]]) }, {}, /counter of link_1: 0, expected 10/],
  ['a bot that is missing', { bots: {} }, {}, /rows of bots \(head\): 0, expected 2/],
  ['a lost click in the metrics of the redirect', { lost: new Map([[1, 3]]) }, {}, /tributary_clicks_lost_total: 3/],
  ['a redirect that failed', {}, { failures: new Map([['status 503', 1]]) }, /1 visits failed: status 503/],
]
test.each(wrong)('%s is a problem', (_name, after, given, problem) => {
  expect(lineAfter(after, given).problems.join('\n')).toMatch(problem)
})

test('allowed losses must be reported exactly, bot clicks included', () => {
  const lost = { rows: 7, counted: 7, bots: { head: 1 } }
  expect(lineAfter({ ...lost, lost: new Map([[1, 4]]) }, {}, true)).toMatchObject({ lost: 3, problems: [] })
  for (const admitted of [3, 5]) {
    expect(lineAfter({ ...lost, lost: new Map([[1, admitted]]) }, {}, true).problems).toHaveLength(1)
  }
})

test('the table has a row for each fault', () => {
  const [head, rule, row, ...more] = formatTable([lineAfter({}, { worstMs: 12.3 })]).split('\n')
  expect(head).toMatch(/^\| fault +\| sent \| answered \| rows/)
  expect(rule).toMatch(/^\|-+\|/)
  expect(row).toMatch(/^\| a fault \| 10 +\| 10 +\| 10 +\| 10 +\| 0 +\| 0 +\| 12 /)
  expect(more).toEqual([])
})

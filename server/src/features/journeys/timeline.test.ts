import { expect, test } from 'vitest'
import { mergePage, type Position, runningValues } from './timeline.ts'

const click = (at: number, id: string) => ({ position: { at, number: -1n, id } })
const conversion = (at: number, number: number) => ({ position: { at, number: BigInt(number), id: '' } })
const clicks = [click(1, 'a'), click(5, 'b'), click(5, 'c'), click(9, 'd')]
const conversions = [conversion(2, 1), conversion(5, 2), conversion(5, 3), conversion(9, 4)]
const sorted = ['1a', '2#1', '5b', '5c', '5#2', '5#3', '9d', '9#4']

function name({ position: { at, number, id } }: { position: Position }): string {
  return `${at}${id || `#${number}`}`
}

/** What the database selects beyond a position. */
function selectBeyond(after: Position | undefined, ascending: boolean, count: number) {
  const inOrder = ascending ? conversions : conversions.toReversed()
  const isBeyond = ({ position: { at, number } }: { position: Position }) => {
    if (!after) return true
    const difference = at - after.at || Number(number - after.number)
    return ascending ? difference > 0 : difference < 0
  }
  return inOrder.filter(isBeyond).slice(0, count)
}

test.each([
  { ascending: true, count: 1 },
  { ascending: true, count: 3 },
  { ascending: false, count: 1 },
  { ascending: false, count: 2 },
  { ascending: false, count: 8 },
])('pages have every click and event once, by time: $ascending $count', ({ ascending, count }) => {
  const seen: string[] = []
  let after: Position | undefined
  for (;;) {
    const { items, isCut } = mergePage(clicks, selectBeyond(after, ascending, count + 1), { ascending, after, count })
    seen.push(...items.map(name))
    expect(items.length).toBeLessThanOrEqual(count)
    after = items.at(-1)?.position
    if (!isCut) break
  }
  expect(seen).toEqual(ascending ? sorted : sorted.toReversed())
})

test('the value after each event follows from the first one in both orders', () => {
  expect(runningValues([1_000n, -300n, 500n], 1_000n, true)).toEqual([1_000n, 700n, 1_200n])
  expect(runningValues([500n, -300n, 1_000n], 1_200n, false)).toEqual([1_200n, 700n, 1_000n])
  expect(runningValues([], 5n, true)).toEqual([])
})

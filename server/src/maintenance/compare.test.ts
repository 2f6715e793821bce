import { describe, expect, test } from 'vitest'
import { compare, type Handles, joinByBucket } from './compare.ts'

test('rows of several sources are joined by bucket, in order of first appearance', () => {
  const counted = [
    { id: 'a', clicks: 1 },
    { id: 'b', clicks: 2 },
  ]
  const stored = [
    { id: 'c', rows: 3 },
    { id: 'b', rows: 2 },
  ]
  expect(joinByBucket({ counted, stored }, ({ id }) => id)).toEqual([
    { counted: { id: 'a', clicks: 1 } },
    { counted: { id: 'b', clicks: 2 }, stored: { id: 'b', rows: 2 } },
    { stored: { id: 'c', rows: 3 } },
  ])
})

describe('a comparison', () => {
  const platform = {} as Handles

  /** Runs a comparison. `reads` has the differing buckets of the first and second read at each position. */
  async function run(reads: [first: string[], second: string[]][], { repair = false, isLocked = true } = {}) {
    const calls: string[] = []
    let isPaused = false
    const read = async (_: Handles, position: number) => {
      const names = reads[position]?.[isPaused ? 1 : 0] ?? []
      const findings = names.map((name) => ({ name, repaired: false }))
      return { findings, percent: 0, next: position + 1 < reads.length ? position + 1 : undefined }
    }
    type Finding = Awaited<ReturnType<typeof read>>['findings'][number]
    const comparison = {
      first: 0,
      read,
      findBucket: ({ name }: Finding) => name,
      pause: async <Result>(_: Handles, found: Finding[], work: (_: Handles, isLocked: boolean) => Promise<Result>) => {
        calls.push(`pause ${found.map(({ name }) => name)}`)
        isPaused = true
        const result = await work(platform, isLocked)
        isPaused = false
        return result
      },
      repair: async (_: Handles, found: Finding[]) => {
        calls.push(`repair ${found.map(({ name }) => name)}`)
        return found.map((finding) => ({ ...finding, repaired: true }))
      },
      finish: async (_: Handles, finding: Finding) => {
        calls.push(`finish ${finding.name}${isPaused ? ' in the pause' : ''}`)
        return finding
      },
    }
    const steps = await Array.fromAsync(compare(platform, comparison, repair))
    return { found: steps.map(({ findings }) => findings.map(({ name, repaired }) => [name, repaired])), calls }
  }

  test('a comparison without differences reads each batch once and pauses nothing', async () => {
    const nothing: [string[], string[]] = [[], ['never read']]
    expect(await run([nothing, nothing])).toEqual({ found: [[], []], calls: [] })
  })

  test('a comparison reports differences that both reads find, and repairs them only on request', async () => {
    expect(
      await run([
        [
          ['a', 'b'],
          ['b', 'c'],
        ],
        [['d'], []],
      ]),
    ).toEqual({ found: [[['b', false]], []], calls: ['pause a,b', 'pause d'] })
  })

  test('a comparison repairs during the pause, and calls `finish` after it', async () => {
    expect(
      await run(
        [
          [
            ['a', 'b'],
            ['a', 'b'],
          ],
        ],
        { repair: true },
      ),
    ).toEqual({
      found: [
        [
          ['a', true],
          ['b', true],
        ],
      ],
      calls: ['pause a,b', 'repair a,b', 'finish a', 'finish b'],
    })
  })

  test('a comparison repairs nothing while a batch is unfinished', async () => {
    expect(await run([[['a'], ['a']]], { repair: true, isLocked: false })).toEqual({
      found: [[['a', false]]],
      calls: ['pause a'],
    })
  })
})

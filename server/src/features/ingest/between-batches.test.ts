import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { betweenAllBatches } from './between-batches.ts'
import { advanceCursor, claimPartition, writeIntent } from './store.ts'

const platform = await openOwnDatabase()
const holder = { partition: 1, owner: 'worker' }
const intent = { first: 1, last: 2, excluded: [], bots: [], counts: [] }

test('betweenAllBatches locks all partitions between two batches, and no batch begins before it ends', async () => {
  await claimPartition(platform.db, holder)
  let isOver = false
  const begun = await betweenAllBatches(platform, async () => {
    const beginning = writeIntent(platform.db, holder, 0, intent).then((done) => ({ done, isOver }))
    await new Promise((resolve) => setTimeout(resolve, 200))
    isOver = true
    return { beginning }
  })
  expect(await begun.beginning).toEqual({ done: true, isOver: true })
  expect(await advanceCursor(platform.db, holder, 0, 2)).toBe(true)
})

test('betweenAllBatches pauses even a lagging worker that stores one batch right after the other', async () => {
  const busy = { partition: 0, owner: 'busy' }
  await claimPartition(platform.db, busy)
  let [sequence, isOver] = [0, false]
  const work = (async () => {
    while (!isOver) {
      await writeIntent(platform.db, busy, sequence, intent)
      await new Promise((resolve) => setTimeout(resolve, 30))
      await advanceCursor(platform.db, busy, sequence, ++sequence)
    }
  })()
  for (let round = 0; round < 5; round++) {
    const [before, after] = await betweenAllBatches(platform, async () => {
      const before = sequence
      await new Promise((resolve) => setTimeout(resolve, 100))
      return [before, sequence]
    })
    expect(after).toBe(before)
  }
  isOver = true
  await work
  expect(sequence).toBeGreaterThan(4)
})

test('betweenAllBatches fails when a batch does not end in time', async () => {
  await sql`UPDATE ingest_cursors SET intent = ${JSON.stringify(intent)}::jsonb WHERE partition = 1`.execute(
    platform.db,
  )
  await expect(betweenAllBatches(platform, async () => {}, 100)).rejects.toThrow('A batch of clicks has not finished')
})

import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseShard, selectShard, type TestFile } from './shard.ts'

const root = join(import.meta.dirname, '..')
const files: TestFile[] = [
  ...Array.from({ length: 7 }, (_, index) => ({ file: `e2e/${index}.test.ts`, projectName: 'long' })),
  ...Array.from({ length: 20 }, (_, index) => ({ file: `server/${index}.test.ts`, projectName: 'server' })),
]

test.each([1, 2, 3, 5, 40])('%d shards have every file once, and as many of each project', (count) => {
  const shards = Array.from({ length: count }, (_, index) => selectShard(files, { index: index + 1, count }))
  expect(shards.flat().toSorted()).toEqual(files.map(({ file }) => file).toSorted())
  for (const folder of ['e2e/', 'server/']) {
    const counts = shards.map((shard) => shard.filter((file) => file.startsWith(folder)).length)
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
  }
})

test('the order of the listing does not matter', () => {
  expect(selectShard(files.toReversed(), { index: 2, count: 3 })).toEqual(selectShard(files, { index: 2, count: 3 }))
})

test.each(['', '1', '0/3', '4/3', '1/0', 'a/b', '1/3/5'])('the shard %j is refused', (text) => {
  expect(() => parseShard(text)).toThrow(/SHARD is ".*": it must be the shard and the number of shards, such as 1\/3/)
})

test('.ci/run --list prints the files of its shard, and two halves have all files', { timeout: 180_000 }, () => {
  const all = globSync('e2e/**/*.test.ts', { cwd: root })
  expect([...list('1/2'), ...list('2/2')].toSorted()).toEqual(all.toSorted())
  const { status, stdout } = runList('3/2')
  expect(stdout).toMatch(/SHARD is "3\/2"/)
  expect(status).toBe(1)
})

function list(shard: string): string[] {
  const { stdout, stderr, status } = runList(shard)
  expect(status, stderr).toBe(0)
  return stdout.trim().split('\n')
}

function runList(shard: string) {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, SHARD: shard }
  return spawnSync(join(root, '.ci/run'), ['--list', 'e2e/'], { encoding: 'utf8', env })
}

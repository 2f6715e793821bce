import { writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { watchFolders } from './watch.ts'

let folder: string
const file = (name: string) => join(folder, name)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watch-test-'))
  await mkdir(file('deep/er'), { recursive: true })
  await writeFile(file('deep/er/a.ts'), 'one')
})
afterAll(() => rm(folder, { recursive: true }))

test('several writes in a row are one change, and only watched files count', async () => {
  using changes = watchFolders([folder], (name) => name.endsWith('.ts'))
  const next = changes.next()
  // Written at once, so that a busy machine does not pause between the files.
  for (const [name, text] of Object.entries({ 'deep/er/a.ts': 'two', 'b.ts': 'one', 'c.md': 'one' }))
    writeFileSync(file(name), text)
  expect(await next).toEqual([file('b.ts'), file('deep/er/a.ts')])
})

test('a file that an editor replaces counts as changed, and a change between two calls is reported', async () => {
  using changes = watchFolders([folder], (name) => name.endsWith('.ts'))
  await writeFile(file('deep/er/a.ts.tmp'), 'three')
  await rename(file('deep/er/a.ts.tmp'), file('deep/er/a.ts'))
  expect(await changes.next()).toEqual([file('deep/er/a.ts')])
  await writeFile(file('b.ts'), 'two')
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(await changes.next()).toEqual([file('b.ts')])
})

test('a file that was replaced is watched again', async () => {
  using changes = watchFolders([folder], (name) => name.endsWith('.ts'))
  for (const text of ['four', 'five']) {
    await writeFile(file('deep/er/a.ts.tmp'), text)
    await rename(file('deep/er/a.ts.tmp'), file('deep/er/a.ts'))
    expect(await changes.next()).toEqual([file('deep/er/a.ts')])
    await writeFile(file('deep/er/a.ts'), 'six')
    expect(await changes.next()).toEqual([file('deep/er/a.ts')])
  }
})

test('a folder that was removed and created again, with a file in it, is watched', async () => {
  using changes = watchFolders([folder], (name) => name.endsWith('.ts'))
  for (const name of ['again/in/e.ts', 'again/in/f.ts']) {
    await mkdir(file('again/in'), { recursive: true })
    await writeFile(file(name), 'one')
    expect(await changes.next()).toEqual([file(name)])
    await rm(file('again'), { recursive: true })
    expect(await changes.next()).toEqual([file(name)])
  }
})

test('files of a folder that was created later are watched', async () => {
  using changes = watchFolders([folder], (name) => name.endsWith('.ts'))
  await mkdir(file('later'))
  await new Promise((resolve) => setTimeout(resolve, 100))
  await writeFile(file('later/d.ts'), 'one')
  expect(await changes.next()).toContain(file('later/d.ts'))
})

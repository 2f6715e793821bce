import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findDialect } from './words.ts'

const root = join(import.meta.dirname, '../..')

test('no declared name uses a word of our own dialect', () => {
  const folders = '{contract,server,dashboard,cli,demo,tracker,engines,e2e,deploy,bench,docs,.ci}/**/*.{ts,tsx}'
  const files = globSync(folders, { cwd: root, exclude: ['**/node_modules/**', 'docs/.vitepress/{cache,dist}/**'] })
  expect(files.length).toBeGreaterThan(500)
  const found = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return findDialect(file, text).map(
      ({ name, offset }) => `${file}:${text.slice(0, offset).split('\n').length} ${name}`,
    )
  })
  expect(found.length, found.join('\n')).toBe(0)
})

test.each([
  ['function nameOf() {}', ['nameOf']],
  ['const offset = 1, of = 2, anyOf = 3, software = 4', []],
  ['const { place: cursor, rest: [told, { held = 1 }] } = thing', ['told', 'held']],
  ['const cursor = row.place', []],
  ['const cursor = { place: 1, [place]: 2 }', ['place']],
  ['type Place = { shelf: string; settle(wanted: string): void }', ['Place', 'shelf', 'settle', 'wanted']],
  ['const LINK_PLACE = (question: string) => question', ['LINK_PLACE', 'question']],
  ["import { kept } from 'elsewhere'; import { kept as mended } from 'elsewhere'", ['mended']],
  ['class Gone<Meaning> { standard = 1; mend() {} }', ['Gone', 'Meaning', 'standard', 'mend']],
  ['try {} catch (away) {}', ['away']],
])('%s', (text, names) => {
  expect(findDialect('a.ts', text).map(({ name }) => name)).toEqual(names)
})

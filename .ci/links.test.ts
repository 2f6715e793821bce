import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { deadLinks, findAnchors } from './links.ts'

const root = join(import.meta.dirname, '..')
const ignored = (name: string) => /(^|\/)(node_modules|dist|\.\w+)$/.test(name)
const files = globSync('**/*.md', { cwd: root, exclude: ignored })

test('there are documents to check', () => {
  expect(files).toContain('README.md')
  expect(files.length).toBeGreaterThan(30)
})

test.each(files)('no link of %s is dead', (file) => {
  expect(deadLinks(root, file, readFileSync(join(root, file), 'utf8'))).toEqual([])
})

test('every guide and decision is in the list of documents', () => {
  const list = readFileSync(join(root, 'docs/README.md'), 'utf8')
  const pages = globSync('{guides/*,adr/0*}.md', { cwd: join(root, 'docs') })
  expect(pages.filter((page) => !list.includes(`](${page})`))).toEqual([])
})

test('finds links to missing files and headings', () => {
  const text =
    '[a](LICENSE) [b](LICENCE) [c](README.md#try-it) [d](README.md#try) [e](#here)\n\n# Here\n\n`[f](none)`\n'
  expect(deadLinks(root, 'x.md', text)).toEqual(['LICENCE', 'README.md#try'])
})

test('anchors match those of repository hosts and of the documentation site', () => {
  expect(findAnchors("# One\n\n## Who can `do` what?\n\n### It's 1, 2\n\n## One\n\n```\n# no\n```\n")).toEqual([
    'one',
    'who-can-do-what',
    'its-1-2',
    'one-1',
  ])
})

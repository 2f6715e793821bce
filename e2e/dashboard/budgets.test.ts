import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { buildDashboard } from '../../demo/dashboard.ts'

const folder = join(import.meta.dirname, '../../dashboard/dist')
const kilobyte = 1_000

type Chunk = {
  file: string
  name?: string
  imports?: string[]
  css?: string[]
  isEntry?: boolean
  isDynamicEntry?: boolean
}
let chunks: Record<string, Chunk> = {}

/** The files that a part of the dashboard loads, with those of its static imports. */
function filesBelow(names: string[], seen = new Set<string>()): Set<string> {
  for (const name of names) {
    const { file = '', css = [], imports = [] } = chunks[name] ?? {}
    if (seen.has(file)) continue
    for (const loaded of [file, ...css]) seen.add(loaded)
    filesBelow(imports, seen)
  }
  return seen
}

const readManifest = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, Chunk>

const sizeGzipped = (files: Iterable<string>) =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file)), { level: 9 }).length, 0)

const entry = () => Object.keys(chunks).filter((name) => chunks[name]?.isEntry)
const shell = () => filesBelow([...entry(), 'src/locales/app/de.po'])

/** The files that parts of the dashboard load besides those of the shell, and besides the file that all pages share. */
function added(names: string[]): Set<string> {
  const shared = Object.keys(chunks).filter((name) => chunks[name]?.name === 'parts')
  expect(shared).toHaveLength(1)
  const loaded = new Set([...shell(), ...filesBelow(shared)])
  return new Set([...filesBelow(names)].filter((file) => !loaded.has(file)))
}

/** What a page adds to the shell: its chunk and the larger of its two catalogs. */
function pageFiles(feature: string, page: string): Set<string> {
  return added([page, `src/locales/${feature}/de.po`])
}

beforeAll(async () => {
  await buildDashboard()
  chunks = readManifest('manifest.json')
})

describe('JavaScript and CSS of the dashboard, compressed', () => {
  test('the first load of links has at most 210 kB', () => {
    const names = [...entry(), 'src/locales/app/de.po', 'src/locales/links/de.po']
    const files = filesBelow([...names, 'src/features/links/links-page.tsx'])
    expect(sizeGzipped(files)).toBeLessThanOrEqual(210 * kilobyte)
  })

  test('each further page adds at most 40 kB', () => {
    const pages = Object.keys(chunks).filter((name) => /^src\/features\/[^/]+\/.+-page\.tsx$/.test(name))
    expect(pages.length).toBeGreaterThanOrEqual(8)
    for (const page of pages) {
      const feature = page.split('/')[2] ?? ''
      expect(sizeGzipped(pageFiles(feature, page)), page).toBeLessThanOrEqual(40 * kilobyte)
    }
  })

  test('the palette adds at most 40 kB', () => {
    expect(sizeGzipped(added(['src/app/palette.tsx']))).toBeLessThanOrEqual(40 * kilobyte)
  })

  test('the page of shared statistics has at most 150 kB, with its texts', () => {
    const dashboard = chunks
    chunks = readManifest('share-manifest.json')
    const texts = ['app', 'analytics', 'shares'].map((catalog) => `src/locales/${catalog}/de.po`)
    const size = sizeGzipped(filesBelow([...entry(), ...texts]))
    chunks = dashboard
    expect(size).toBeLessThanOrEqual(150 * kilobyte)
  })
})

test('no file has zod, a server framework, or the address of another host that it could load from', () => {
  for (const file of globSync('assets/*.{js,css}', { cwd: folder })) {
    const text = readFileSync(join(folder, file), 'utf8')
    expect(text, file).not.toMatch(/_zod|ZodError|better-auth|@import url|src\s*=\s*["']https?:/)
    // Documentation links of libraries in error messages, namespaces, and examples are never requested.
    const hosts = new Set([...text.matchAll(/https?:\/\/([a-z0-9.-]+\.[a-z]{2,})/g)].map(([, host]) => host))
    const known =
      /(^|\.)(w3\.org|react\.dev|radix-ui\.com|reactjs\.org|tanstack\.com|github\.com|lingui\.dev|mozilla\.org|tailwindcss\.com|example\.com)$/
    expect(
      [...hosts].filter((host) => !known.test(host ?? '')),
      file,
    ).toEqual([])
  }
})

test('every text file is there compressed, by brotli and by gzip', () => {
  const files = globSync('assets/*', { cwd: folder })
  const texts = files.filter((file) => /\.(js|css)$/.test(file))
  for (const file of texts) expect(files).toEqual(expect.arrayContaining([`${file}.br`, `${file}.gz`]))
})

test('the sign-in page loads at most 15 kB of JavaScript', async () => {
  const { api } = inject('server')
  const html = await (await fetch(`${api}/sign-in`)).text()
  const paths = [...html.matchAll(/<script[^>]*\ssrc="([^"]+)"/g)].map(([, path = '']) => path)
  const scripts = await Promise.all(paths.map(async (path) => (await fetch(new URL(path, api))).text()))
  expect(gzipSync(scripts.join('\n'), { level: 9 }).length).toBeLessThanOrEqual(15 * kilobyte)
})

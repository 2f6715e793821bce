import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { cutVersion, unreleasedLines } from './changelog.ts'
import { compareVersions, setChartVersion } from './release.ts'

const script = join(import.meta.dirname, 'release.ts')
const today = new Date().toISOString().slice(0, 10)
let folder: string

const manifest = {
  name: 'tributary',
  version: '0.1.0',
  workspaces: ['contract', 'server'],
  scripts: { tracker: 'echo tracker > written; echo' },
}
const server = {
  name: '@tributary/server',
  version: '0.1.0',
  dependencies: { '@tributary/contract': '0.1.0', zod: '4.6.7' },
}
const contract = { name: '@tributary/contract', version: '0.1.0' }
const files: Record<string, string> = {
  'CHANGELOG.md': '# Changelog\n\n## Unreleased\n\n### Added\n\n- Links.\n',
  'package.json': JSON.stringify(manifest),
  'contract/package.json': JSON.stringify(contract),
  'server/package.json': JSON.stringify(server),
  'package-lock.json': JSON.stringify({
    version: '0.1.0',
    packages: { '': manifest, contract, server, 'node_modules/zod': { version: '4.6.7', integrity: 'sha512-x' } },
  }),
  'deploy/helm/tributary/Chart.yaml': 'apiVersion: v2\nversion: 0.1.0\nappVersion: 0.1.0\n',
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'release-test-'))
  git('init', '--quiet', '--initial-branch=main')
  for (const [path, text] of Object.entries(files)) write(path, text)
  commit()
})
afterEach(() => rmSync(folder, { recursive: true }))

test('a release moves the changelog, sets every version, commits and tags', () => {
  const { status, output } = release('0.2.0')
  expect(output).toContain('git push origin main v0.2.0')
  expect(status).toBe(0)
  expect(read('CHANGELOG.md')).toBe(`# Changelog\n\n## Unreleased\n\n## 0.2.0 - ${today}\n\n### Added\n\n- Links.\n`)
  for (const path of ['package.json', 'contract/package.json', 'server/package.json']) {
    expect(JSON.parse(read(path)).version, path).toBe('0.2.0')
  }
  const dependencies = { '@tributary/contract': '0.2.0', zod: '4.6.7' }
  expect(JSON.parse(read('server/package.json')).dependencies).toEqual(dependencies)
  const lock = JSON.parse(read('package-lock.json'))
  expect(lock).toMatchObject({ version: '0.2.0', packages: { '': { version: '0.2.0' }, server: { dependencies } } })
  expect(lock.packages['node_modules/zod'].version).toBe('4.6.7')
  expect(read('deploy/helm/tributary/Chart.yaml')).toBe('apiVersion: v2\nversion: 0.2.0\nappVersion: 0.2.0\n')
  expect(read('written')).toBe('tracker\n')
  expect(git('log', '-1', '--format=%s')).toBe('chore(release): 0.2.0')
  expect(git('rev-parse', 'v0.2.0^{commit}')).toBe(git('rev-parse', 'HEAD'))
  expect(git('status', '--porcelain')).toBe('')
})

test('the first release may have the version of package.json, and no version is released twice', () => {
  expect(release('0.1.0').status).toBe(0)
  write('CHANGELOG.md', read('CHANGELOG.md').replace('## Unreleased\n', '## Unreleased\n\n- More.\n'))
  commit()
  expect(release('0.1.0').output).toMatch(/v0\.1\.0 exists/)
  expect(release('0.0.9').output).toMatch(/not above 0\.1\.0/)
  expect(release('0.1.1').status).toBe(0)
})

test.each([
  ['a word', 'next', /"next" is not a version/],
  ['nothing', '', /is not a version/],
])('%s is refused as a version', (_, version, message) => {
  expect(release(version)).toMatchObject({ status: 1, output: expect.stringMatching(message) })
  expect(git('tag')).toBe('')
})

test('changed files and an empty changelog are refused, and nothing is written', () => {
  write('notes.txt', 'mine')
  expect(release('0.2.0')).toMatchObject({ status: 1, output: expect.stringMatching(/working tree has changes/) })
  write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-01-01\n\n- Links.\n')
  commit()
  expect(release('0.2.0')).toMatchObject({ status: 1, output: expect.stringMatching(/no lines below "## Unreleased"/) })
  expect(git('status', '--porcelain')).toBe('')
})

test('versions are compared by their numbers', () => {
  expect(compareVersions('0.10.0', '0.9.9')).toBeGreaterThan(0)
  expect(compareVersions('1.0.0', '1.0.1')).toBeLessThan(0)
  expect(compareVersions('1.2.3', '1.2.3')).toBe(0)
})

test('the changelog and the chart of this project have the form that a release expects', () => {
  const root = join(import.meta.dirname, '..')
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  expect(changelog.match(/^## Unreleased$/gm)).toHaveLength(1)
  expect(unreleasedLines(cutVersion(changelog, '9.9.9', today))).toEqual([])
  const chart = readFileSync(join(root, 'deploy/helm/tributary/Chart.yaml'), 'utf8')
  expect(setChartVersion(chart, '9.9.9').match(/9\.9\.9/g)).toHaveLength(2)
})

function release(version: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, version], {
    cwd: folder,
    encoding: 'utf8',
    env: environment(),
  })
  return { status, output: stdout + stderr }
}

function commit(): void {
  git('add', '--all')
  git('commit', '--quiet', '--message', 'chore(test): more')
}

function git(...words: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', words, { cwd: folder, encoding: 'utf8', env: environment() })
  if (status !== 0) throw new Error(`git ${words.join(' ')}: ${stderr}`)
  return stdout.trim()
}

function environment(): NodeJS.ProcessEnv {
  const person = { NAME: 'Test', EMAIL: 'test@example.com' }
  const names = Object.entries(person).flatMap(([name, value]) => [
    [`GIT_AUTHOR_${name}`, value],
    [`GIT_COMMITTER_${name}`, value],
  ])
  // Excludes git hooks and settings of the machine.
  return { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_GLOBAL: '/dev/null', ...Object.fromEntries(names) }
}

function read(path: string): string {
  return readFileSync(join(folder, path), 'utf8')
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

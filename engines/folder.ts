import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { endProcess, engineNames, pidFilePath } from './engine-process.ts'

export type EngineFolder = { path: string; close(): Promise<void> }

/** Opens the given folder or a temporary one, which close() removes, and has its engines stopped should we die. */
export async function openFolder(directory: string | undefined): Promise<EngineFolder> {
  const path = directory ? resolve(directory) : await makeTemporaryFolder()
  // Left behind by a crash of the machine, they would name processes of others.
  await Promise.all(engineNames.map((name) => rm(pidFilePath(join(path, name)), { force: true })))
  const watcher = await watchForOrphans(path, directory ? [] : ['remove'])
  return {
    path,
    async close() {
      watcher.ref()
      await endProcess(watcher, 'SIGKILL')
      if (!directory) await rm(path, { recursive: true, force: true })
    },
  }
}

async function makeTemporaryFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tributary-engines-'))
  // Root runs PostgreSQL as another user, who has to pass through.
  await chmod(path, 0o711)
  return path
}

// The watcher sees our death, even by kill -9, because its standard input closes.
async function watchForOrphans(path: string, options: string[]): Promise<ChildProcess> {
  const watcher = spawn('/bin/sh', [join(import.meta.dirname, 'stop-orphans.sh'), path, ...options], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  await once(watcher, 'spawn')
  watcher.unref()
  return watcher
}

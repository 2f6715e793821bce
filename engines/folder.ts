import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { endProcess, engineNames, pidFilePath } from './engine-process.ts'

export type EngineFolder = { path: string; close(): Promise<void> }

/** Opens the given folder or a temporary one, which close() removes; its engines stop if this process dies. */
export async function openFolder(directory: string | undefined): Promise<EngineFolder> {
  const path = directory ? resolve(directory) : await makeTemporaryFolder()
  // Stale pid files from a machine crash would name unrelated processes.
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
  // As root, PostgreSQL runs as another user, which must be able to enter the folder.
  await chmod(path, 0o711)
  return path
}

// The watcher detects our end, even by kill -9, because its standard input closes.
async function watchForOrphans(path: string, options: string[]): Promise<ChildProcess> {
  const watcher = spawn('/bin/sh', [join(import.meta.dirname, 'stop-orphans.sh'), path, ...options], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  await once(watcher, 'spawn')
  watcher.unref()
  return watcher
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { endProcess, engineNames, pidFilePath } from './engine-process.ts'

export type EngineFolder = { path: string; close(): Promise<void> }

/** Opens the given data folder, or a temporary one that close() removes. If this process dies, its database processes stop. */
export async function openFolder(directory: string | undefined): Promise<EngineFolder> {
  const path = directory ? resolve(directory) : await makeTemporaryFolder()
  // Removes stale pid files of a machine crash, which would point to unrelated processes.
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
  // For root, PostgreSQL runs as another user, who must be able to enter the folder.
  await chmod(path, 0o711)
  return path
}

// Starts a watcher that stops the databases when this process dies, even by kill -9, because its stdin closes then.
async function watchForOrphans(path: string, options: string[]): Promise<ChildProcess> {
  const watcher = spawn('/bin/sh', [join(import.meta.dirname, 'stop-orphans.sh'), path, ...options], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  await once(watcher, 'spawn')
  watcher.unref()
  return watcher
}

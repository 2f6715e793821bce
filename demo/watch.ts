import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type Changes = Disposable & {
  /** Resolves with the files that changed since the last call, after 50 ms without further changes. */
  next(): Promise<string[]>
}

// Editors and `git checkout` write several files in a row, so changes are collected.
const quietMs = 50

/**
 * Watches folders and the folders in them. Each has its own watcher, because Node's recursive one no longer reports a
 * file that was replaced, as many editors and `git checkout` do.
 */
export function watchFolders(folders: string[], isWatched: (file: string) => boolean): Changes {
  const changed = new Set<string>()
  const watchers = new Map<string, FSWatcher>()
  let wake = () => {}
  for (const folder of folders) watchTree(folder, () => {})

  function watchTree(folder: string, onFile: (file: string) => void): void {
    watchers.get(folder)?.close()
    const watcher = watch(folder, (type, name) => {
      const path = join(folder, name ?? '')
      if (type === 'rename' && isFolder(path)) watchNew(path)
      else report(path)
    })
    watchers.set(folder, watcher)
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) watchTree(path, onFile)
      else onFile(path)
    }
  }

  function watchNew(folder: string): void {
    try {
      watchTree(folder, report)
    } catch {
      // The folder was removed again.
    }
  }

  function report(file: string): void {
    if (!isWatched(file)) return
    changed.add(file)
    wake()
  }

  return {
    async next() {
      if (changed.size === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      let lastChangeAt = performance.now()
      wake = () => {
        lastChangeAt = performance.now()
      }
      for (let waitMs = quietMs; waitMs > 0; waitMs = lastChangeAt + quietMs - performance.now()) await sleep(waitMs)
      const files = [...changed].sort()
      changed.clear()
      return files
    },
    [Symbol.dispose]() {
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

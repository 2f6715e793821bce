import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type Changes = Disposable & {
  /** Resolves with the files that changed since the last call, after 50 ms without further changes. */
  next(): Promise<string[]>
}

// Editors and `git checkout` write several files in a row, so changes are collected.
const quietMs = 50

/** Watches folders recursively. */
export function watchFolders(folders: string[], isWatched: (file: string) => boolean): Changes {
  const changed = new Set<string>()
  let wake = () => {}
  const watchers: FSWatcher[] = folders.map((folder) =>
    watch(folder, { recursive: true }, (_, name) => {
      const file = join(folder, name ?? '')
      if (!isWatched(file)) return
      changed.add(file)
      wake()
    }),
  )
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
      for (const watcher of watchers) watcher.close()
    },
  }
}

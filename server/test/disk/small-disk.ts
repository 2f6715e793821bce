import { execFile, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, open, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type SmallDisk = AsyncDisposable & {
  folder: string
  /** Fills the disk with one file, except for that many megabytes. */
  fill(leftMegabytes?: number): Promise<void>
  /** Deletes the file that fills the disk. */
  free(): Promise<void>
}

/** Mounts a file system of this size, in a new folder or at `at`, until the process exits. */
export async function openSmallDisk(megabytes: number, at?: string): Promise<SmallDisk> {
  await using parts = new AsyncDisposableStack()
  const folder = at ?? (await mkdtemp(join(tmpdir(), 'tributary-disk-')))
  await mkdir(folder, { recursive: true })
  parts.defer(() => rm(folder, { recursive: true, force: true }))
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder])
  const unmount = () => void spawnSync('umount', ['--lazy', folder])
  process.on('exit', unmount)
  parts.defer(() => {
    unmount()
    process.off('exit', unmount)
  })
  const ballast = join(folder, 'ballast')
  const opened = parts.move()
  return {
    folder,
    fill: (leftMegabytes = 0) => fillWith(ballast, leftMegabytes),
    free: () => rm(ballast, { force: true }),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

/** Whether this user may mount file systems. */
export async function canMount(): Promise<boolean> {
  try {
    await using _disk = await openSmallDisk(1)
    return true
  } catch {
    return false
  }
}

async function fillWith(path: string, leftMegabytes: number): Promise<void> {
  await using file = await open(path, 'a')
  if (leftMegabytes > 0) {
    const { bavail, bsize } = await statfs(path)
    const chunk = Buffer.alloc(1_048_576)
    for (let left = bavail * bsize; left > leftMegabytes * chunk.length; left -= chunk.length) await file.write(chunk)
    return
  }
  for (let size = 1_048_576; size >= 1; ) {
    try {
      const { bytesWritten } = await file.write(Buffer.alloc(size))
      if (bytesWritten < size) size = Math.floor(size / 2)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      size = Math.floor(size / 2)
    }
  }
}

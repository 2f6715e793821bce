import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { FaultStack } from './stack.ts'

const run = promisify(execFile)

/** Replaces the redirects by two whose spools share a small disk without a free byte; disposing brings them back. */
export async function useFullDisk(stack: FaultStack): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'tributary-disk-'))
  parts.defer(() => rm(folder, { recursive: true, force: true }))
  await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder])
  const unmount = () => void spawnSync('umount', ['--lazy', folder])
  process.on('exit', unmount)
  parts.defer(() => {
    unmount()
    process.off('exit', unmount)
  })
  const usual = stack.redirects
  const small = await Promise.all(
    [0, 1].map((number) => stack.startRedirect(number, { SPOOL_DIRECTORY: join(folder, `spool-${number}`) })),
  )
  parts.defer(async () => {
    stack.redirects = usual
    stack.balance()
    await Promise.all(small.map((redirect) => redirect.stop()))
  })
  await fill(join(folder, 'ballast'))
  stack.redirects = small
  stack.balance()
  return parts.move()
}

/** A disk of its own needs the right to mount one. */
export async function canMount(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder])
    await run('umount', [folder])
    return true
  } catch {
    return false
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function fill(path: string): Promise<void> {
  await using file = await open(path, 'w')
  for (let size = 65_536; size >= 1; ) {
    try {
      const { bytesWritten } = await file.write(Buffer.alloc(size))
      if (bytesWritten < size) size = Math.floor(size / 2)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      size = Math.floor(size / 2)
    }
  }
}

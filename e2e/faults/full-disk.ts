import { join } from 'node:path'
import { openSmallDisk } from '../../server/test/disk/small-disk.ts'
import type { FaultStack } from './stack.ts'

/** Replaces the redirect processes with two whose spools share a full disk; disposing restores them. */
export async function useFullDisk(stack: FaultStack): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack()
  const disk = parts.use(await openSmallDisk(1))
  const usual = stack.redirects
  const small = await Promise.all(
    [0, 1].map((number) => stack.startRedirect(number, { SPOOL_DIRECTORY: join(disk.folder, `spool-${number}`) })),
  )
  parts.defer(async () => {
    stack.redirects = usual
    stack.balance()
    await Promise.all(small.map((redirect) => redirect.stop()))
  })
  await disk.fill()
  stack.redirects = small
  stack.balance()
  return parts.move()
}

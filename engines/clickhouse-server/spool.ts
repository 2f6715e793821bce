import { randomUUID } from 'node:crypto'
import { createWriteStream, mkdirSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** The rows of an insert, in a file of their own. */
export type SpooledRows = AsyncDisposable & { file: string; bytes: number }
export type Spool = { write(rows: Readable): Promise<SpooledRows> }

/**
 * Writes the rows of inserts to files, because chdb reads rows that follow a statement only up to an empty line: it cuts
 * binary rows off and reports no error. Deletes what a killed server left behind.
 */
export function openSpool(folder: string): Spool {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return {
    async write(rows) {
      const file = join(folder, randomUUID())
      const remove = () => rm(file, { force: true })
      const writing = createWriteStream(file)
      try {
        await pipeline(rows, writing)
      } catch (error) {
        await remove()
        throw error
      }
      return { file, bytes: writing.bytesWritten, [Symbol.asyncDispose]: remove }
    },
  }
}

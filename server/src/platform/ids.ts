import { randomBytes } from 'node:crypto'
import type { IdPrefix } from '@tributary/contract/common'
import { v7 } from 'uuid'

export function newId(prefix: IdPrefix): string {
  return `${prefix}_${v7()}`
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Returns uniformly distributed random letters and digits. */
export function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 248 && text.length < length) text += letters[byte % letters.length]
    }
  }
  return text
}

/** Maps a workspace to its event log partition, the same in every process. */
export function hashPartition(workspaceId: string, partitions: number): number {
  if (partitions === 1) return 0
  let hash = 0x811c9dc5
  for (let index = 0; index < workspaceId.length; index++) {
    hash = Math.imul(hash ^ workspaceId.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0) % partitions
}

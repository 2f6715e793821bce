import type { Platform } from '../../platform/context.ts'
import { unauthorized } from '../../platform/errors.ts'
import { deleteUsedCode, insertUsedCode } from './verification-store.ts'

/** Runs `verify`, unless this code was used before: an observed code must not work again in its window (RFC 6238, 5.2). */
export async function useTotpCode<R>(
  { db }: Pick<Platform, 'db'>,
  given: { userId: string; code: string },
  verify: () => Promise<R>,
): Promise<R> {
  if (!(await insertUsedCode(db, given))) {
    throw unauthorized('This code was used already. Enter the next one that the app shows.')
  }
  try {
    return await verify()
  } catch (error) {
    await deleteUsedCode(db, given)
    throw error
  }
}

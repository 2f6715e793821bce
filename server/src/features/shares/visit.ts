import type { ShareAnalytics, ShareAnalyticsQuery, SharePage } from '@tributary/contract/shares'
import { openAdmission } from '../../platform/answers.ts'
import type { Platform } from '../../platform/context.ts'
import { unauthorized } from '../../platform/errors.ts'
import { asTenant } from '../../platform/postgres.ts'
import { openStatsPasswords } from '../public-stats/service.ts'
import { type OpenShare, openShare } from './open.ts'
import { countShared, describePage } from './read.ts'
import { issueToken, isUnlockedBy, unlockedMs } from './token.ts'

/** A visitor of a shared page, with the password or the token of an earlier visit; each may be empty. */
export type Visitor = { network: string; password: string; token: string }

/** Reads shared pages for visitors. The password is checked here, with every call. */
export function openVisits(platform: Platform) {
  const { ENCRYPTION_KEYS: keys } = platform.config
  const checkPassword = openStatsPasswords(platform)
  const admission = openAdmission(platform)

  /** Throws 401 for a wrong password; false without any. */
  async function isUnlocked({ id, sealedPassword }: OpenShare, visitor: Visitor): Promise<boolean> {
    if (sealedPassword === null) return true
    const locked = { id, sealedPassword }
    if (isUnlockedBy(keys, locked, visitor.token, platform.now())) return true
    if (visitor.password === '') return false
    await checkPassword(locked, visitor.password, visitor.network)
    return true
  }

  return {
    async readPage(id: string, visitor: Visitor): Promise<SharePage> {
      const share = await openShare(platform, id)
      return (await isUnlocked(share, visitor)) ? describePage(share) : { isLocked: true }
    },

    async count(id: string, visitor: Visitor, query: ShareAnalyticsQuery): Promise<ShareAnalytics> {
      const share = await openShare(platform, id)
      if (!(await isUnlocked(share, visitor))) {
        throw unauthorized('These statistics have a password. Send it in the header X-Stats-Password.')
      }
      // Visitors wait in the line of the workspace, as its keys do, so that they take no capacity of others.
      const { workspaceId } = share.ctx
      using slots = new DisposableStack()
      slots.defer(await admission.enter(share.ctx, 'analytics'))
      return await asTenant(workspaceId, () => countShared(share, query))
    },

    /** Returns a token that replaces the password until it expires; an empty one where no password is needed. */
    async unlock(id: string, { network, password }: Visitor): Promise<{ token: string; expiresAt: Date }> {
      const { sealedPassword } = await openShare(platform, id)
      const expiresAt = new Date(platform.now().getTime() + unlockedMs)
      if (sealedPassword === null) return { token: '', expiresAt }
      await checkPassword({ id, sealedPassword }, password, network)
      return { token: issueToken(keys, { id, sealedPassword }, expiresAt), expiresAt }
    },
  }
}

import { encodeQR } from 'qr'
import { sendEmail } from '../../platform/email.ts'
import { AppError, conflict, forbidden, invalid, unauthorized } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { runInBackground, runLater } from './background.ts'
import { mayMail, maySend } from './limits.ts'
import { changeEmailMail, emailChangedMail } from './mails/change-email.ts'
import { resetMail } from './mails/reset-password.ts'
import { signInMail } from './mails/sign-in-link.ts'
import { sendNotice } from './notice.ts'
import { issueLink, peekLink, useLink } from './one-time.ts'
import { hashPassword, requireGoodPassword } from './passwords.ts'
import { type AccountAction, recordAction, whoIs } from './record.ts'
import { findSession, forgetSession, normalizeEmail, type Session } from './service.ts'
import { deletePasskey, deleteSessions, selectExpiry, selectPasskeys, updateTimes } from './session-store.ts'
import type { Auth, Browser } from './sign-in.ts'
import { deleteUserRow, selectUser, selectUserByEmail, updateEmail, updateName, upsertPassword } from './store.ts'
import { useTotpCode } from './totp-codes.ts'
import { deleteLinksOfUser } from './verification-store.ts'

type SignedInBrowser = Browser & { session: Session }
const freshMs = 15 * 60_000

/** Whether the user proved who they are in the last 15 minutes. */
export function isFresh({ authenticatedAt }: Session, now: Date): boolean {
  return now.getTime() - authenticatedAt.getTime() < freshMs
}

/** Sends a link to an existing user; the answer is the same without one, and comes before the work. */
export function requestLink(
  auth: Auth,
  { headers }: Browser,
  { kind, email: given, next }: { kind: 'sign-in' | 'reset'; email: string; next?: string },
): void {
  const email = normalizeEmail(given)
  const cookie = headers.get('cookie') ?? undefined
  runLater(auth.log, `${kind} e-mail`, async () => {
    const user = await selectUserByEmail(auth.db, email)
    if (!user || user.disabled_at || !(await mayMail(auth, { kind, email, cookie }))) return
    const url = await issueLink(auth, kind, { userId: user.id }, { ...(next && { next }) })
    await sendEmail(auth, { to: email, ...(kind === 'reset' ? resetMail(url) : signInMail(url)) })
  })
}

/** Sets a password by a reset link and ends every session of the user. Returns a sentence about what still works. */
export async function resetPassword(
  auth: Auth,
  { network }: Browser,
  { token, password }: { token: string; password: string },
): Promise<string> {
  const link = await peekLink(auth, 'reset', token)
  const user = link && (await selectUser(auth.db, link.userId))
  if (user) requireGoodPassword(password, [user.email, user.name])
  const { userId } = await useLink(auth, 'reset', token)
  await savePassword(auth, { userId, network }, password, 'password-reset')
  if (user) sendNotice(auth, user.email, 'password-reset')
  const [passkeys, keys] = [await selectPasskeys(auth.db, userId), await auth.hooks.countKeys(auth, userId)]
  const remaining = [...count(passkeys.length, 'passkey'), ...count(keys, 'personal API key')]
  return remaining.length > 0 ? `Still valid: ${remaining.join(' and ')}. Remove those that you do not recognize.` : ''
}

function count(number: number, noun: string): string[] {
  return number === 0 ? [] : [`${number} ${noun}${number === 1 ? '' : 's'}`]
}

export async function changePassword(auth: Auth, browser: SignedInBrowser, password: string): Promise<void> {
  const { session } = browser
  requireGoodPassword(password, [session.email, session.name])
  await savePassword(auth, whoIs(browser), password, 'password-changed')
  sendNotice(auth, session.email, 'password-changed')
}

/** Other sessions and open links end, because an attacker may have them. */
async function savePassword(
  auth: Auth,
  who: ReturnType<typeof whoIs>,
  password: string,
  action: AccountAction,
): Promise<void> {
  const { userId, sessionId } = who
  const hash = await hashPassword(password)
  await transaction(auth, async (auth) => {
    await upsertPassword(auth.db, userId, hash)
    await deleteSessions(auth.db, userId, { except: sessionId })
    await deleteLinksOfUser(auth.db, userId)
    await recordAction(auth, action, who)
  })
}

export function requestEmailChange(auth: Auth, { session }: SignedInBrowser, given: string): void {
  const email = normalizeEmail(given)
  runLater(auth.log, 'change of an e-mail address', async () => {
    if (await selectUserByEmail(auth.db, email)) return
    if (!(await maySend(auth, session.userId)) || !(await mayMail(auth, { kind: 'change-email', email }))) return
    const url = await issueLink(auth, 'change-email', { userId: session.userId, email })
    await sendEmail(auth, { to: email, ...changeEmailMail(url, session.email) })
  })
}

/**
 * Changes the e-mail address and sends a notice to the former one. Links that were sent to the former one end. Only the
 * account itself confirms: the owner of an address must not attach it to an account of somebody else.
 */
export async function confirmEmailChange(auth: Auth, browser: SignedInBrowser, token: string): Promise<void> {
  const { session, network } = browser
  const link = await peekLink(auth, 'change-email', token)
  if (link && link.userId !== session.userId) throw foreignChange(session.email)
  const { userId, email } = await useLink(auth, 'change-email', token)
  const former = await transaction(auth, async (auth) => {
    const former = await updateEmail(auth.db, userId, email)
    if (!former) throw new AppError('conflict', `Another account has the e-mail address ${email}.`)
    await deleteLinksOfUser(auth.db, userId)
    await recordAction(auth, 'email-changed', { userId, network }, { email })
    return former
  })
  // Not limited by `mayMail`: an attacker could use up that limit first.
  runInBackground(auth.log, 'notice of a changed e-mail address', () =>
    sendEmail(auth, { to: former, ...emailChangedMail(email) }),
  )
}

export function foreignChange(own: string): AppError {
  return forbidden(
    `This link changes the address of another account. You are signed in as ${own}. If the other account is not yours, ignore the e-mail.`,
  )
}

export async function deleteAccount(auth: Auth, { session }: SignedInBrowser, confirmation: string): Promise<void> {
  if (confirmation.trim().toLowerCase() !== session.email) {
    throw invalid(`Type your e-mail address, ${session.email}, to delete the account.`)
  }
  await transaction(auth, async (auth) => {
    await auth.hooks.beforeDelete(auth, session.userId)
    await deleteLinksOfUser(auth.db, session.userId)
    await deleteUserRow(auth.db, session.userId)
    // Without the network, because the key that would encrypt it is deleted.
    await recordAction(auth, 'account-deleted', { userId: session.userId, sessionId: session.id, network: '' })
  })
}

export type TotpSetup = { uri: string; codes: string[]; svg: string }

export async function startTotp(auth: Auth, { headers }: Browser): Promise<TotpSetup> {
  const result = await auth.identity.api.enableTwoFactor({ body: { method: 'totp' }, headers })
  if (result.method !== 'totp') throw forbidden('The second factor is on already. Turn it off first.')
  return showTotp(result.totpURI, result.backupCodes)
}

export function showTotp(uri: string, codes: string[]): TotpSetup {
  if (!uri.startsWith('otpauth://totp/') || uri.length > 500) throw invalid('This form is not complete. Start again.')
  return { uri, codes, svg: encodeQR(uri, 'svg', { ecc: 'low' }) }
}

/** Turns the second factor on; returns the cookies of the session that replaces the current one. */
export async function finishTotp(auth: Auth, browser: SignedInBrowser, code: string): Promise<string[]> {
  const { headers, session } = browser
  const body = { code: code.replaceAll(/\s/g, '') }
  const used = { userId: session.userId, code: body.code.slice(0, 6) }
  const result = await replacingSession(auth, session, () =>
    useTotpCode(auth, used, () =>
      auth.identity.api.verifyTOTP({ body, headers, returnHeaders: true }).catch(() => {
        throw unauthorized('The code is wrong. Enter the one that the app shows now.')
      }),
    ),
  )
  await recordAction(auth, 'second-factor-on', whoIs(browser))
  return result.headers.getSetCookie()
}

export async function removeTotp(auth: Auth, browser: SignedInBrowser): Promise<string[]> {
  const { headers, session } = browser
  if (!(await selectUser(auth.db, session.userId))?.two_factor_enabled)
    throw conflict('The second factor is off already.')
  const result = await replacingSession(auth, session, () =>
    auth.identity.api.disableTwoFactor({ body: {}, headers, returnHeaders: true }),
  )
  await recordAction(auth, 'second-factor-off', whoIs(browser))
  sendNotice(auth, session.email, 'second-factor-off')
  return result.headers.getSetCookie()
}

/** The library starts a session in place of the current one. It expires when that one did, and proves nothing new. */
async function replacingSession<R extends { headers: Headers }>(
  auth: Auth,
  { id, authenticatedAt }: Session,
  work: () => Promise<R>,
): Promise<R> {
  const expiresAt = await selectExpiry(auth.db, id)
  const result = await work()
  const cookies = result.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
  const replacing = await findSession(auth, cookies.join('; '))
  if (replacing && expiresAt) await updateTimes(auth.db, replacing.id, { authenticatedAt, expiresAt })
  forgetSession(auth, cookies.join('; '))
  return result
}

export async function renewRecoveryCodes(auth: Auth, browser: SignedInBrowser): Promise<string[]> {
  const { backupCodes } = await auth.identity.api.generateBackupCodes({ body: {}, headers: browser.headers })
  await recordAction(auth, 'recovery-codes-renewed', whoIs(browser))
  return backupCodes
}

export async function rename(auth: Auth, browser: SignedInBrowser, name: string): Promise<void> {
  await transaction(auth, async (auth) => {
    await updateName(auth.db, browser.session.userId, name)
    await recordAction(auth, 'name-changed', whoIs(browser), { name })
  })
}

/** Ends one session of the user, or all others; returns how many. */
export function endSessions(auth: Auth, browser: SignedInBrowser, id: string | undefined): Promise<number> {
  const { session } = browser
  return transaction(auth, async (auth) => {
    const count = await deleteSessions(auth.db, session.userId, id ? { id } : { except: session.id })
    const details = id ? { session: id } : { otherSessions: count }
    if (count > 0) await recordAction(auth, 'session-ended', whoIs(browser), details)
    return count
  })
}

export async function removePasskey(auth: Auth, browser: SignedInBrowser, id: string): Promise<void> {
  await transaction(auth, async (auth) => {
    if (!(await deletePasskey(auth.db, browser.session.userId, id))) return
    await recordAction(auth, 'passkey-removed', whoIs(browser), { passkey: id })
  })
}

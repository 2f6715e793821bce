import { encodeQR } from 'qr'
import { sendEmail } from '../../platform/email.ts'
import { AppError, forbidden, invalid, unauthorized } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { runInBackground } from './background.ts'
import { mayMail } from './limits.ts'
import { changeEmailMail } from './mails/change-email.ts'
import { resetMail } from './mails/reset-password.ts'
import { signInMail } from './mails/sign-in-link.ts'
import { issueLink, peekLink, useLink } from './one-time.ts'
import { hashPassword, requireGoodPassword } from './passwords.ts'
import { normalizeEmail, type Session } from './service.ts'
import { deleteSessions } from './session-store.ts'
import type { Auth, Browser } from './sign-in.ts'
import { deleteUserRow, selectUser, selectUserByEmail, updateEmail, upsertPassword } from './store.ts'
import { deleteLinksOfUser } from './verification-store.ts'

type SignedInBrowser = Browser & { session: Session }
const freshMs = 15 * 60_000

/** Whether the user proved who they are in the last 15 minutes. */
export function isFresh({ authenticatedAt }: Session, now: Date): boolean {
  return now.getTime() - authenticatedAt.getTime() < freshMs
}

/** Sends a link to an existing user; the answer is the same without one, and comes before the work. */
export function requestLink(auth: Auth, purpose: 'sign-in' | 'reset', given: string, next?: string): void {
  const email = normalizeEmail(given)
  runInBackground(auth.log, `${purpose} e-mail`, async () => {
    const user = await selectUserByEmail(auth.db, email)
    if (!user || user.disabled_at || !(await mayMail(auth, email))) return
    const url = await issueLink(auth, purpose, { userId: user.id }, { ...(next && { next }) })
    await sendEmail(auth, { to: email, ...(purpose === 'reset' ? resetMail(url) : signInMail(url)) })
  })
}

/** Sets a password by a reset link and ends every session of the user. */
export async function resetPassword(auth: Auth, token: string, password: string): Promise<void> {
  const link = await peekLink(auth, 'reset', token)
  const user = link && (await selectUser(auth.db, link.userId))
  if (user) requireGoodPassword(password, [user.email, user.name])
  const { userId } = await useLink(auth, 'reset', token)
  await savePassword(auth, userId, password, undefined)
}

export async function changePassword(auth: Auth, { session }: SignedInBrowser, password: string): Promise<void> {
  requireGoodPassword(password, [session.email, session.name])
  await savePassword(auth, session.userId, password, session.id)
}

/** Other sessions and open links end, because an attacker may have them. */
async function savePassword(
  auth: Auth,
  userId: string,
  password: string,
  exceptSession: string | undefined,
): Promise<void> {
  const hash = await hashPassword(password)
  await transaction(auth, async ({ db }) => {
    await upsertPassword(db, userId, hash)
    await deleteSessions(db, userId, { except: exceptSession })
    await deleteLinksOfUser(db, userId)
  })
}

export function requestEmailChange(auth: Auth, { session }: SignedInBrowser, given: string): void {
  const email = normalizeEmail(given)
  runInBackground(auth.log, 'change of an e-mail address', async () => {
    if ((await selectUserByEmail(auth.db, email)) || !(await mayMail(auth, email))) return
    const url = await issueLink(auth, 'change-email', { userId: session.userId, email })
    await sendEmail(auth, { to: email, ...changeEmailMail(url) })
  })
}

export async function confirmEmailChange(auth: Auth, token: string): Promise<void> {
  const { userId, email } = await useLink(auth, 'change-email', token)
  if (await updateEmail(auth.db, userId, email)) return
  throw new AppError('conflict', `Another account has the e-mail address ${email}.`)
}

export async function deleteAccount(auth: Auth, { session }: SignedInBrowser, confirmation: string): Promise<void> {
  if (confirmation.trim().toLowerCase() !== session.email) {
    throw invalid(`Type your e-mail address, ${session.email}, to delete the account.`)
  }
  await transaction(auth, async (auth) => {
    await auth.hooks.beforeDelete(auth, session.userId)
    await deleteLinksOfUser(auth.db, session.userId)
    await deleteUserRow(auth.db, session.userId)
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
export async function finishTotp(auth: Auth, { headers }: Browser, code: string): Promise<string[]> {
  const body = { code: code.replaceAll(/\s/g, '') }
  const result = await auth.identity.api.verifyTOTP({ body, headers, returnHeaders: true }).catch(() => {
    throw unauthorized('The code is wrong. Enter the one that the app shows now.')
  })
  return result.headers.getSetCookie()
}

export async function removeTotp(auth: Auth, { headers }: Browser): Promise<string[]> {
  const result = await auth.identity.api.disableTwoFactor({ body: {}, headers, returnHeaders: true })
  return result.headers.getSetCookie()
}

export async function renewRecoveryCodes(auth: Auth, { headers }: Browser): Promise<string[]> {
  return (await auth.identity.api.generateBackupCodes({ body: {}, headers })).backupCodes
}

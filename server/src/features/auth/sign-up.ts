import type { Platform } from '../../platform/context.ts'
import { sendEmail } from '../../platform/email.ts'
import { AppError, conflict, invalid } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { runLater } from './background.ts'
import { mayMail } from './limits.ts'
import { existingAccountMail } from './mails/existing-account.ts'
import { signUpMail } from './mails/sign-up.ts'
import { hashNewPassword } from './new-account.ts'
import { issueLink, linkEnded, peekLink, useLink } from './one-time.ts'
import { hashPassword } from './passwords.ts'
import { recordAction } from './record.ts'
import { createUser, normalizeEmail } from './service.ts'
import { type Auth, type Browser, type PeopleHooks, prove, type SignedIn } from './sign-in.ts'
import { hasUsers, lockFirstUser, selectUserByEmail } from './store.ts'

/** Whether the sign-in page offers a form for new accounts; invited people have a link instead. */
export function offersSignUp({ SIGNUP }: Platform['config']): boolean {
  return SIGNUP === 'open' || SIGNUP === 'domains'
}

async function maySignUp(auth: Auth, email: string): Promise<boolean> {
  const { SIGNUP, SIGNUP_DOMAINS } = auth.config
  if (SIGNUP === 'open') return true
  if (SIGNUP === 'domains' && SIGNUP_DOMAINS.includes(email.slice(email.lastIndexOf('@') + 1))) return true
  return auth.hooks.isInvited(auth, email)
}

/** Sends a link for a new account; accounts are created only by people who can read the e-mail. */
export function requestSignUp(auth: Auth, given: string, next: string): void {
  const email = normalizeEmail(given)
  runLater(auth.log, 'sign-up e-mail', async () => {
    const user = await selectUserByEmail(auth.db, email)
    if (!(await maySignUp(auth, email)) || !(await mayMail(auth, { kind: 'sign-up', email }))) return
    const mail = user
      ? existingAccountMail(`${auth.config.API_URL}/sign-in`)
      : signUpMail(await issueLink(auth, 'sign-up', { email }, { next }))
    await sendEmail(auth, { to: email, ...mail })
  })
}

export async function completeSignUp(
  auth: Auth,
  browser: Browser,
  { token, name, password }: { token: string; name: string; password: string },
): Promise<SignedIn> {
  const link = await peekLink(auth, 'sign-up', token)
  if (!link) throw linkEnded()
  const hash = await hashNewPassword(auth, browser, { email: link.email, name, password })
  const user = await transaction(auth, async (auth) => {
    const { email } = await useLink(auth, 'sign-up', token)
    const user = await createUser(auth, { email, name: requireName(name), hash, isEmailVerified: true })
    await recordAction(auth, 'account-created', { userId: user.id, network: browser.network })
    return user
  })
  return prove(auth, browser, user, 'new account')
}

/** Creates the first user and workspace. The setup link proves that the person can read the server's log. */
export async function setUp(
  auth: Auth,
  browser: Browser,
  input: { token: string; email: string; name: string; password: string; workspace: string },
): Promise<SignedIn> {
  const email = normalizeEmail(input.email)
  await requireSetupLink(auth, input.token)
  const hash = await hashNewPassword(auth, browser, { ...input, email })
  const workspace = requireName(input.workspace, 'workspace', 32)
  const user = await transaction(auth, async (auth) => {
    await lockFirstUser(auth.db)
    if (await hasUsers(auth.db)) throw conflict('This installation is set up already. Sign in.')
    await useLink(auth, 'setup', input.token)
    const name = requireName(input.name)
    const user = await createUser(auth, { email, name, hash, isEmailVerified: true, isOperator: true })
    await recordAction(auth, 'account-created', { userId: user.id, network: browser.network })
    await auth.hooks.createFirstWorkspace(auth, user.id, workspace)
    return user
  })
  return prove(auth, browser, user, 'new account')
}

/** Creates INIT_OWNER_EMAIL, or logs a setup link; does nothing once there is a user. */
export async function welcomeFirstUser(platform: Platform, hooks: PeopleHooks): Promise<void> {
  const { config, log } = platform
  if (await hasUsers(platform.db)) return
  if (!config.INIT_OWNER_EMAIL) {
    const setupLink = await issueLink(platform, 'setup', {})
    log.info({ setupLink }, 'no users yet: open the setup link within a day to create the first one')
    return
  }
  const email = normalizeEmail(config.INIT_OWNER_EMAIL)
  const hash = config.INIT_OWNER_PASSWORD && (await hashPassword(config.INIT_OWNER_PASSWORD))
  const isNew = await transaction(platform, async (platform) => {
    await lockFirstUser(platform.db)
    if (await hasUsers(platform.db)) return false
    const name = email.slice(0, email.lastIndexOf('@'))
    const verified = { isEmailVerified: true, isOperator: true }
    const user = await createUser(platform, { email, name, ...verified, ...(hash && { hash }) })
    await hooks.createFirstWorkspace(platform, user.id, config.INIT_WORKSPACE_NAME)
    return true
  })
  if (isNew) log.info('created the first user INIT_OWNER_EMAIL and the workspace INIT_WORKSPACE_NAME')
}

export function requireName(text: string, what = 'name', most = 100): string {
  const name = text.trim()
  if (name === '' || name.length > most || /[\p{Cc}\p{Cs}]/u.test(name)) {
    throw invalid(`The ${what} must have 1 to ${most} characters.`)
  }
  return name
}

/** Throws 404 unless the setup link is valid. */
export async function requireSetupLink(platform: Pick<Platform, 'db'>, token: string): Promise<void> {
  if (await peekLink(platform, 'setup', token)) return
  throw new AppError(
    'not_found',
    'This setup link was used already or has expired. Print a new one: tributary user setup-link',
  )
}

import type { Platform } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { issueLink } from './one-time.ts'
import { hashPassword, requireGoodPassword } from './passwords.ts'
import { createUser, findUserByEmail, type User, usersByIds } from './service.ts'
import { deletePasskeys, deleteSessions } from './session-store.ts'
import { deleteSecondFactors, hasUsers, selectAllUsers, updateDisabled, updateOperator } from './store.ts'
import { deleteLinksOfUser } from './verification-store.ts'

type Databases = Pick<Platform, 'db' | 'config'>
const mostListed = 10_000
const hourMs = 3_600_000

async function requireUser(platform: Databases, email: string): Promise<User> {
  const user = await findUserByEmail(platform, email)
  if (user) return user
  throw new AppError('not_found', `There is no user ${email}. \`tributary user list\` shows them.`)
}

export function addUser(platform: Databases, input: { email: string; name: string; hash?: string }): Promise<User> {
  return createUser(platform, { ...input, isEmailVerified: true })
}

/** Checks and hashes the password of a user whom the operator creates, before the transaction begins. */
export function preparePassword(input: { email: string; name: string; password: string }): Promise<string> {
  requireGoodPassword(input.password, [input.email, input.name])
  return hashPassword(input.password)
}

export async function listUsers({ db }: Databases): Promise<User[]> {
  const ids = (await selectAllUsers(db, mostListed)).map(({ id }) => id)
  return [...(await usersByIds({ db }, ids)).values()]
}

/** Ends every session of a disabled user; signing in fails from then on. */
export async function setDisabled(platform: Databases, email: string, isDisabled: boolean): Promise<User> {
  const user = await requireUser(platform, email)
  await transaction(platform, async ({ db }) => {
    await updateDisabled(db, user.id, isDisabled)
    if (isDisabled) await endAccess(db, user.id)
  })
  return requireUser(platform, email)
}

/** Lets a user see the state of the whole installation, or not any more. */
export async function setOperator(platform: Databases, email: string, isOperator: boolean): Promise<User> {
  const user = await requireUser(platform, email)
  await updateOperator(platform.db, user.id, isOperator)
  return requireUser(platform, email)
}

/** Prints a link that signs the user in once, for an hour. */
export async function makeSignInLink(platform: Databases, email: string): Promise<string> {
  const user = await requireUser(platform, email)
  if (user.disabledAt) throw new AppError('forbidden', `${email} is disabled. Run: tributary user enable ${email}`)
  return issueLink(platform, 'sign-in', { userId: user.id }, { lifetimeMs: hourMs })
}

/** Ends all sessions, removes all passkeys and returns a link for a new password; optionally removes the second factor. */
export async function resetUser(
  platform: Databases,
  email: string,
  { secondFactor }: { secondFactor: boolean },
): Promise<{ userId: string; link: string; passkeys: number }> {
  const { id: userId } = await requireUser(platform, email)
  const passkeys = await transaction(platform, async ({ db }) => {
    await endAccess(db, userId)
    if (secondFactor) await deleteSecondFactors(db, userId)
    return deletePasskeys(db, userId)
  })
  return { userId, passkeys, link: await issueLink(platform, 'reset', { userId }) }
}

export async function makeSetupLink(platform: Databases): Promise<string> {
  if (await hasUsers(platform.db)) {
    throw new AppError('conflict', 'There are users already. To add one, run: tributary user create <e-mail>')
  }
  return issueLink(platform, 'setup', {})
}

async function endAccess(db: Platform['db'], userId: string): Promise<void> {
  await deleteSessions(db, userId, { except: undefined })
  await deleteLinksOfUser(db, userId)
}

import { limitSignIn } from './limits.ts'
import { hashPassword, requireGoodPassword } from './passwords.ts'
import { emailTaken } from './service.ts'
import type { Auth, Browser } from './sign-in.ts'
import { selectUserByEmail } from './store.ts'

/**
 * Hashes the password of a new account, before its transaction begins. Throws 409 for an e-mail address that is taken and
 * 429 above the limits of sign-in, because a hash takes as long as one of a sign-in.
 */
export async function hashNewPassword(
  auth: Auth,
  { network, headers }: Browser,
  { email, name, password }: { email: string; name: string; password: string },
): Promise<string> {
  requireGoodPassword(password, [email, name])
  await limitSignIn(auth, { network, email, cookie: headers.get('cookie') ?? undefined })
  if (await selectUserByEmail(auth.db, email)) throw emailTaken(email)
  return hashPassword(password)
}

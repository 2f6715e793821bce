import { sendEmail } from '../../platform/email.ts'
import { runInBackground } from './background.ts'
import { accountChangedMail, type NotifiedAction } from './mails/account-changed.ts'
import type { Auth } from './sign-in.ts'

/** Sends a notice of a changed account after the response. No limit: an attacker could use it up first. */
export function sendNotice(auth: Auth, email: string, action: NotifiedAction): void {
  const mail = accountChangedMail(action, { at: auth.now(), url: auth.config.API_URL })
  runInBackground(auth.log, `notice ${action}`, () => sendEmail(auth, { to: email, ...mail }))
}

import type { AccountAction } from '../record.ts'
import { composeMail, type Mail } from './compose.ts'

const changes = {
  'password-changed': 'The password of your account was changed.',
  'password-reset': 'The password of your account was reset by a link that was sent to this address.',
  'passkey-added': 'A passkey was added to your account. It signs in without your password.',
  'second-factor-off': 'The second factor of your account was turned off.',
} satisfies Partial<Record<AccountAction, string>>

export type NotifiedAction = keyof typeof changes

/** Tells the owner of an account about a change that an attacker would make. */
export function accountChangedMail(action: NotifiedAction, { at, url }: { at: Date; url: string }): Mail {
  const time = `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const closing = `If it was not you, reset your password at ${url}/reset-password, then end the other sessions of your account. If you can't sign in, ask the operator of this Tributary installation for help.`
  return composeMail('Your account was changed', [changes[action], `Time: ${time}.`], { closing })
}

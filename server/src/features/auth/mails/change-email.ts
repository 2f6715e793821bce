import { composeMail, type Mail } from './compose.ts'

export function changeEmailMail(url: string, account: string): Mail {
  const sentences = [
    `The Tributary account of ${account} asks to sign in with this e-mail address from now on.`,
    'If this is your account, open the link in a browser where you are signed in. It works once, for an hour.',
  ]
  return composeMail('Confirm your new e-mail address', sentences, { label: 'Confirm', url })
}

/** Goes to the former address, so that its owner notices a change by someone else. */
export function emailChangedMail(email: string): Mail {
  const sentences = [
    `Your Tributary account now has the e-mail address ${email}. This address no longer signs in to it.`,
  ]
  const closing = 'If you did not change it, ask the operator of this Tributary installation for help.'
  return composeMail('Your e-mail address has changed', sentences, { closing })
}

import { composeMail, type Mail } from './compose.ts'

export function changeEmailMail(url: string): Mail {
  const sentences = ['Open this link to sign in with this e-mail address from now on. It works once, for an hour.']
  return composeMail('Confirm your new e-mail address', sentences, { label: 'Confirm', url })
}

import { composeMail, type Mail } from './compose.ts'

export function existingAccountMail(url: string): Mail {
  const sentences = ['Someone tried to create an account with your e-mail address. You have one already.']
  return composeMail('You have an account already', sentences, { label: 'Sign in', url })
}

import { composeMail, type Mail } from './compose.ts'

export function signInMail(url: string): Mail {
  return composeMail('Your sign-in link', ['Open this link to sign in to Tributary. It works once, for 15 minutes.'], {
    label: 'Sign in',
    url,
  })
}

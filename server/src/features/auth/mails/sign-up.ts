import { composeMail, type Mail } from './compose.ts'

export function signUpMail(url: string): Mail {
  return composeMail(
    'Confirm your e-mail address',
    ['Open this link to create your account. It works once, for a day.'],
    {
      label: 'Create your account',
      url,
    },
  )
}

import { composeMail, type Mail } from './compose.ts'

export function resetMail(url: string): Mail {
  return composeMail(
    'Choose a new password',
    ['Open this link to choose a new password. It works once, for an hour.'],
    {
      label: 'Choose a new password',
      url,
    },
  )
}

import { type LinkValues, type Purpose, peekLink } from './one-time.ts'
import type { Page } from './pages/layout.ts'
import { messagePage } from './pages/sign-in.ts'
import type { Visit } from './visit.ts'

type MailedPurpose = Exclude<Purpose, 'setup'>
type Behind<P extends MailedPurpose> = (link: LinkValues[P] & { token: string }) => Page | Promise<Page>

const remedies: Record<MailedPurpose, { title: string; href: string; label: string }> = {
  'sign-in': { title: 'Sign in', href: '/sign-in/link', label: 'Send a new link' },
  reset: { title: 'Choose a new password', href: '/reset-password', label: 'Send a new link' },
  'sign-up': { title: 'Create an account', href: '/sign-up', label: 'Create an account' },
  'change-email': { title: 'Confirm your new address', href: '/account', label: 'Your account' },
}

/** Shows the page behind a one-time link without using the link up; 404 for a link that does not work. */
export async function showBehindLink<P extends MailedPurpose>(
  { auth, query, form }: Visit,
  purpose: P,
  show: Behind<P>,
): Promise<{ page: Page; status?: number }> {
  const token = form.get('token') ?? query.get('token') ?? ''
  const link = await peekLink(auth, purpose, token)
  if (link) return { page: await show({ ...link, token }) }
  const { title, ...remedy } = remedies[purpose]
  const problem = 'This link was used already or has expired. Ask for a new one.'
  return { page: { ...messagePage(title, '', remedy), problem }, status: 404 }
}

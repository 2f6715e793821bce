import type { Conversion } from '../track/service.ts'

/** Why a commission is on hold until its program confirms it. */
export const reviewReasons = ['page', 'same_person'] as const
export type ReviewReason = (typeof reviewReasons)[number]

/** Why the commission of an event is held; null when it is not. */
export function findReviewReason(
  { from_page }: Pick<Conversion, 'from_page'>,
  emails: { customer: string | null | undefined; partner: string | null },
): ReviewReason | null {
  // A publishable key is public: a partner can report leads and sales with it that never happened.
  if (from_page) return 'page'
  return isSamePerson(emails.customer, emails.partner) ? 'same_person' : null
}

/** Whether both addresses reach the same mailbox. */
export function isSamePerson(one: string | null | undefined, other: string | null | undefined): boolean {
  return Boolean(one && other) && normalizeEmail(one as string) === normalizeEmail(other as string)
}

const withoutDots = ['gmail.com', 'googlemail.com']

/** An address without the tag after a plus sign and, for Gmail, without dots, which its servers ignore. */
function normalizeEmail(email: string): string {
  const address = email.trim().toLowerCase()
  const at = address.lastIndexOf('@')
  const [mailbox = ''] = address.slice(0, at).split('+')
  const domain = address.slice(at + 1)
  return withoutDots.includes(domain) ? `${mailbox.replaceAll('.', '')}@gmail.com` : `${mailbox}@${domain}`
}

import { findBrokenDomain } from '../../domains/service.ts'
import type { Section } from '../compose.ts'
import type { Recipient } from '../recipients.ts'
import { formatTime, pageUrl } from './format.ts'

export async function describeBrokenDomain(
  recipient: Recipient,
  { subject, occasion }: { subject: string; occasion: string },
): Promise<Section | undefined> {
  const domain = await findBrokenDomain(recipient.ctx, subject)
  // A domain that worked and broke again meanwhile has another notification.
  if (!domain || domain.broken_since.toISOString() !== occasion) return undefined
  return {
    title: `Visitors no longer reach ${domain.slug}`,
    sentences: [
      `The short links on ${domain.slug} have not worked since ${formatTime(domain.broken_since, recipient.workspace)}.`,
      domain.problem ?? '',
      'The domain page shows which record is missing or wrong. Set it where the DNS of the domain is managed; the domain works again as soon as DNS has it.',
    ].filter(Boolean),
    action: { label: 'Open the domain', url: pageUrl(recipient, `domains/${encodeURIComponent(domain.slug)}`) },
  }
}

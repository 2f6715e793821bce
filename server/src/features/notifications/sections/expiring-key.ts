import { findToken } from '../../tokens/service.ts'
import { oneLine, type Section } from '../compose.ts'
import type { Recipient } from '../recipients.ts'
import { formatTime, pageUrl } from './format.ts'

const longestName = 80

export async function describeExpiringKey(
  recipient: Recipient,
  { subject, occasion }: { subject: string; occasion: string },
): Promise<Section | undefined> {
  const { ctx, workspace } = recipient
  const key = await findToken(ctx, subject)
  const [expiresAt] = occasion.split(' ')
  if (!key?.expires_at || key.revoked_at || key.replaced_by || key.expires_at <= ctx.now()) return undefined
  if (key.expires_at.toISOString() !== expiresAt) return undefined
  const name = oneLine(key.name, longestName)
  return {
    title: `The API key “${name}” expires soon`,
    sentences: [
      `The key “${name}” (${key.prefix}…${key.last_four}) stops working at ${formatTime(key.expires_at, workspace)}. Requests with it then get 401.`,
      'Rotate it: a new key replaces it, and both work until you end the old one. Or give it a later end.',
    ],
    action: { label: 'Open the keys', url: pageUrl(recipient, 'settings/keys') },
  }
}

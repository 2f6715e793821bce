import { randomBytes } from 'node:crypto'
import { type SecretKeys, seal, unseal } from '../../platform/seal.ts'
import type { WebhookRow } from './store.ts'

/** The previous secret signs too for this long after a rotation. */
export const bothSignMs = 24 * 3_600_000

/** The Standard Webhooks format: a prefix, and 32 bytes in base64. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** Encrypted for this webhook only. */
export function sealSecret(keys: SecretKeys, webhookId: string, secret: string): Buffer {
  return seal(keys, webhookId, secret)
}

/** The secrets that sign at this time, newest first. */
export function openSecrets(
  keys: SecretKeys,
  webhook: Pick<WebhookRow, 'id' | 'sealed_secret' | 'sealed_former_secret' | 'former_secret_until'>,
  now: Date,
): string[] {
  const { sealed_former_secret: former, former_secret_until: until } = webhook
  const sealed = former && until && until > now ? [webhook.sealed_secret, former] : [webhook.sealed_secret]
  return sealed.map((bytes) => unseal(keys, webhook.id, bytes))
}

import { randomBytes } from 'node:crypto'
import { type SecretKeys, seal, unseal } from '../../platform/seal.ts'
import type { WebhookRow } from './store.ts'

/** For this long after a secret's rotation, deliveries are signed with the previous secret too. */
export const bothSignMs = 24 * 3_600_000

/** A webhook secret in the Standard Webhooks format: a prefix, and 32 random bytes in base64. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** Encrypts a webhook secret with the webhook's id, so that it can't be decrypted for another webhook. */
export function sealSecret(keys: SecretKeys, webhookId: string, secret: string): Buffer {
  return seal(keys, webhookId, secret)
}

/** The decrypted secrets that sign a webhook's deliveries now, newest first. */
export function openSecrets(
  keys: SecretKeys,
  webhook: Pick<WebhookRow, 'id' | 'sealed_secret' | 'sealed_former_secret' | 'former_secret_until'>,
  now: Date,
): string[] {
  const { sealed_former_secret: former, former_secret_until: until } = webhook
  const sealed = former && until && until > now ? [webhook.sealed_secret, former] : [webhook.sealed_secret]
  return sealed.map((bytes) => unseal(keys, webhook.id, bytes))
}

import { randomBytes } from 'node:crypto'
import { type SecretKeys, seal, unseal } from '../../platform/seal.ts'
import type { WebhookRow } from './store.ts'

/** For that long after a new secret was made the former one signs too. */
export const bothSignMs = 24 * 3_600_000

/** As Standard Webhooks writes it: the prefix, and 32 bytes in base64. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** Bound to its webhook. */
export function sealSecret(keys: SecretKeys, webhookId: string, secret: string): Buffer {
  return seal(keys, webhookId, secret)
}

/** Those that sign at this time, the newest first. */
export function openSecrets(
  keys: SecretKeys,
  webhook: Pick<WebhookRow, 'id' | 'sealed_secret' | 'sealed_former_secret' | 'former_secret_until'>,
  now: Date,
): string[] {
  const { sealed_former_secret: former, former_secret_until: until } = webhook
  const sealed = former && until && until > now ? [webhook.sealed_secret, former] : [webhook.sealed_secret]
  return sealed.map((bytes) => unseal(keys, webhook.id, bytes))
}

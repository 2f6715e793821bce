import type { WebhookPatch } from '@tributary/contract/webhooks'
import type { Config } from '../../platform/config.ts'
import { invalid } from '../../platform/errors.ts'
import { checkUrl, type OutboundReason } from '../../platform/outbound.ts'
import type { WebhookChanges, WebhookRow } from './store.ts'

const problems: Partial<Record<OutboundReason, string>> = {
  url: 'must be an absolute address, such as https://example.com/webhooks',
  scheme: 'must begin with https:// or http://',
  credentials: 'must not have a user name or password: the signature identifies the caller',
  port: 'has a port that this server does not connect to; use 80 or 443',
  private: 'is not on the public internet; use a public host, or ask the operator to add it to OUTBOUND_ALLOWED_HOSTS',
}

/** Validates and normalizes a webhook's URL. Every call checks the resolved IP addresses again. */
export function requireAddress(url: string, config: Config): string {
  const refusal = checkUrl(url, config)
  if (refusal) throw invalid(`\`url\` in the body ${problems[refusal] ?? 'can not be called'}.`)
  const address = new URL(url)
  // Two URLs that differ only in the fragment are the same receiver, because fragments are not sent.
  address.hash = ''
  return address.href
}

type Scope = Pick<WebhookRow, 'scope' | 'folder_ids'>
type ScopeInput = Pick<WebhookPatch, 'linkScope' | 'folderIds' | 'linkIds'>

/** Resolves which links' events a webhook gets. `current` is the scope of an existing webhook. */
export function resolveScope(input: ScopeInput, current: Scope = { scope: 'workspace', folder_ids: [] }): Scope {
  const scope = input.linkScope ?? current.scope
  if (scope !== 'folders' && input.folderIds?.length) throw needsScope('folderIds', 'folders', scope)
  if (scope !== 'links' && input.linkIds?.length) throw needsScope('linkIds', 'links', scope)
  if (scope !== 'folders') return { scope, folder_ids: [] }
  const folderIds = [...new Set(input.folderIds ?? current.folder_ids)]
  if (folderIds.length > 0) return { scope, folder_ids: folderIds }
  throw invalid('`folderIds` in the body must name at least one folder, because the `linkScope` is `folders`.')
}

/** The changes that enable or disable a webhook. Enabling clears the reason why it was disabled. */
export function resolveStanding({ disabled }: WebhookPatch, current: WebhookRow, now: Date): WebhookChanges {
  if (disabled === undefined || disabled === (current.disabled_at !== null)) return {}
  if (disabled) return { disabled_at: now, disabled_reason: 'asked' }
  return { disabled_at: null, disabled_reason: null, failing_since: null }
}

function needsScope(field: string, needed: string, scope: string) {
  return invalid(`\`${field}\` in the body requires the \`linkScope\` \`${needed}\`; here it is \`${scope}\`.`)
}

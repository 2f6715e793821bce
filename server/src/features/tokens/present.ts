import type { Token, TokenKind } from '@tributary/contract/tokens'
import type { TokenRow } from './store.ts'

export const keyPrefix = 'trib_'
// After `trib_`, a secret key has only letters and digits, so no secret key begins with this prefix.
export const publishablePrefix = 'trib_pk_'

export function readKind(row: Pick<TokenRow, 'prefix' | 'user_id'>): TokenKind {
  if (row.prefix.startsWith(publishablePrefix)) return 'publishable'
  return row.user_id === null ? 'machine' : 'personal'
}

export function presentToken(row: TokenRow): Token {
  return {
    id: row.id,
    name: row.name,
    kind: readKind(row),
    prefix: row.prefix,
    lastFour: row.last_four,
    scopes: row.scopes,
    allowedHostnames: row.allowed_hostnames,
    userId: row.user_id,
    createdBy: row.created_by ?? row.created_by_key,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    lastUsedFrom: row.last_used_from,
    expiresAt: row.expires_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
    replacedBy: row.replaced_by,
    createdAt: row.created_at.toISOString(),
  }
}

import { expect, test } from 'vitest'
import { cleanHostnames } from './hostnames.ts'
import { scopeAccess } from './tasks.ts'
import { isActive, newTokenBody, type Token, type TokenValues, tokenPatchBody } from './token-values.ts'

const now = Date.parse('2026-11-01T12:00:00Z')
const values: TokenValues = {
  ...{ name: ' Report ', kind: 'personal', task: 'report', expiry: '30', day: '', hostnames: '' },
  access: scopeAccess(['analytics.read', 'links.read']),
}
const token = { name: 'Report', kind: 'personal', scopes: ['analytics.read', 'links.read'] } as unknown as Token

test('a new key has the scopes of its task and its expiry', () => {
  expect(newTokenBody(values, now)).toEqual({
    name: 'Report',
    kind: 'personal',
    scopes: ['analytics.read', 'links.read'],
    expiresAt: '2026-12-01T12:00:00.000Z',
  })
})

test('a publishable key has hostnames instead of scopes', () => {
  const body = newTokenBody(
    { ...values, kind: 'publishable', expiry: 'never', hostnames: 'https://a.com/x, *.a.com' },
    now,
  )
  expect(body).toEqual({ name: 'Report', kind: 'publishable', expiresAt: null, allowedHostnames: ['a.com', '*.a.com'] })
})

test('a change has only what differs', () => {
  const same = { ...values, task: 'custom' as const, expiry: 'unchanged' as const }
  expect(tokenPatchBody(token, same, now)).toEqual({})
  const narrower = { ...same, access: { ...same.access, links: 'none' as const } }
  expect(tokenPatchBody(token, narrower, now)).toEqual({ scopes: ['analytics.read'] })
  expect(tokenPatchBody(token, { ...same, expiry: 'date', day: '2027-01-31' }, now)).toEqual({
    expiresAt: '2027-01-31T23:59:59Z',
  })
})

test('revoked and expired keys are not active', () => {
  expect(isActive({ revokedAt: null, expiresAt: null }, now)).toBe(true)
  expect(isActive({ revokedAt: '2026-01-01T00:00:00Z', expiresAt: null }, now)).toBe(false)
  expect(isActive({ revokedAt: null, expiresAt: '2026-11-01T11:00:00Z' }, now)).toBe(false)
})

test('without host names the workspace decides', () => {
  expect(cleanHostnames(' ,\n')).toBeNull()
})

import { expect, test } from 'vitest'
import { requireFreshSession, requireSameOrigin } from './credentials.ts'

const apiUrl = 'https://api.example.com'

function check(headers: Record<string, string>) {
  return () => requireSameOrigin((name) => headers[name], apiUrl)
}

test.each<Record<string, string>>([
  { origin: apiUrl, 'sec-fetch-site': 'same-origin' },
  { origin: apiUrl },
  { 'sec-fetch-site': 'same-origin' },
])('a write from an own page is accepted: %j', (headers) => {
  expect(check(headers)).not.toThrow()
})

test.each<Record<string, string>>([
  {},
  { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
  { origin: 'https://www.example.com', 'sec-fetch-site': 'same-site' },
  { origin: 'http://api.example.com' },
  { origin: 'https://api.example.com:444' },
  { origin: 'https://api.example.com.evil.example' },
  { origin: 'null', 'sec-fetch-site': 'same-origin' },
  { origin: apiUrl, 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'none' },
  { 'sec-fetch-site': 'cross-site' },
])('a write from elsewhere is refused: %j', (headers) => {
  expect(check(headers)).toThrow('only from pages of https://api.example.com')
})

const signedInAt = new Date('2026-01-01T12:00:00Z')
const at = (minutes: number) => () => new Date(signedInAt.getTime() + minutes * 60_000)
const user = { kind: 'user' as const, id: 'user_1', scopes: [], authenticatedAt: signedInAt }

test('a user who signed in a quarter of an hour ago may do what cannot be undone', () => {
  expect(() => requireFreshSession({ actor: user, now: at(15) })).not.toThrow()
})

test.each([
  { actor: user, now: at(15.1) },
  { actor: { ...user, authenticatedAt: undefined }, now: at(0) },
  { actor: { kind: 'key' as const, id: 'key_1', scopes: [] }, now: at(0) },
])('others must confirm the password first', (ctx) => {
  expect(() => requireFreshSession(ctx)).toThrow('Confirm your password at /account')
})

import { expect, test } from 'vitest'
import { findBlocking } from './policy.ts'

const page = new URL('https://shop.example/pricing')
const api = new URL('https://api.example')
const script = new URL('https://api.example/tracker.js')
const check = (...policies: string[]) => findBlocking(policies, { page, script, api, hasNonce: false })

test.each([
  ['no policy'],
  ['other directives', "img-src 'none'; frame-ancestors 'none'"],
  ['the origin', "script-src 'self' https://api.example; connect-src https://api.example"],
  ['the host alone', 'script-src api.example; connect-src api.example'],
  ['the default', "default-src 'self' api.example"],
  ['a wildcard host', 'default-src *.example'],
  ['a scheme', 'default-src https:'],
  ['everything', 'default-src *'],
  ['a port', 'default-src https://api.example:443'],
  ['a folder', 'script-src https://api.example/; connect-src *'],
  ['capital letters', 'SCRIPT-SRC HTTPS://API.EXAMPLE; connect-src *'],
  ['the first of two directives', "script-src *; script-src 'none'"],
])('%s allows script and reports', (_, ...policies) => {
  expect(check(...policies)).toBeNull()
})

test.each([
  ["script-src 'self'"],
  ["default-src 'none'; connect-src *"],
  ['script-src https://other.example'],
  ['script-src http://api.example:8080'],
  ['script-src https://api.example/other.js'],
  ['script-src-elem https://other.example; script-src *'],
  ["script-src 'nonce-abc' 'strict-dynamic'"],
])('%s blocks the script', (policy) => {
  expect(check(policy)).toBe('script-src')
})

test('every policy must allow it', () => {
  expect(check('script-src *', "script-src 'self'")).toBe('script-src')
})

test('a policy may allow the script and block its reports', () => {
  expect(check("script-src api.example; connect-src 'self'")).toBe('connect-src')
  expect(check("default-src 'self'; script-src api.example")).toBe('connect-src')
})

test('a tag with a nonce may be allowed by it', () => {
  const policies = ["script-src 'nonce-abc' 'strict-dynamic'"]
  expect(findBlocking(policies, { page, script, api, hasNonce: true })).toBeNull()
})

test('a page of the same origin as the API may have only itself', () => {
  const own = new URL('https://api.example/page')
  expect(findBlocking(["default-src 'self'"], { page: own, script, api, hasNonce: false })).toBeNull()
})

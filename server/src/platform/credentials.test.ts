import { expect, test } from 'vitest'
import { requireSameOrigin } from './credentials.ts'

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

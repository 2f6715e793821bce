import { expect, test } from 'vitest'
import { isCommonPassword } from './common-passwords.ts'

test.each([
  'password123',
  'Password1234!',
  'P4ssw0rd2024',
  'qwertyuiop',
  '1234567890',
  'aaaaaaaaaaaa',
  'abcabcabcabc',
  'iloveyou2026',
  'letmein-letmein',
  'Welcome.2026!',
  'Tributary2026',
  'adminadmin99',
  'zxcvbnm12345',
  'abcdefghij',
  'Summer2026!!',
  'ada.lovelace1',
])('%s is common', (password) => {
  expect(isCommonPassword(password, ['ada.lovelace@example.com'])).toBe(true)
})

test.each(['correct horse battery', 'kV8#qpLz2mTx', 'vermilion teapot', 'nine llamas juggle', 'Grüße aus Köln!'])(
  '%s is not common',
  (password) => {
    expect(isCommonPassword(password, ['ada.lovelace@example.com'])).toBe(false)
  },
)

test('a very long password is judged quickly', () => {
  const started = performance.now()
  isCommonPassword('abc'.repeat(100_000))
  expect(performance.now() - started).toBeLessThan(1_000)
})

import { expect, test } from 'vitest'
import { openTestPlatform } from '../../../test/stack.ts'
import { sleep } from '../../platform/clock.ts'
import { transaction } from '../../platform/postgres.ts'
import { hashPassword, inLane, isPassword, requireGoodPassword } from './passwords.ts'

test('a password matches its hash only, also when accents are composed in another way', async () => {
  const hash = await hashPassword('Grüße aus Köln')
  expect(hash).toMatch(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/)
  expect(await isPassword('Grüße aus Köln'.normalize('NFD'), hash)).toBe(true)
  expect(await isPassword('Grusse aus Koln', hash)).toBe(false)
  expect(await isPassword('', null)).toBe(false)
})

test('a password is not hashed inside a transaction, whose connection others wait for', async () => {
  const platform = await openTestPlatform()
  await expect(transaction(platform, () => hashPassword('vermilion teapot 7'))).rejects.toThrow('inside a transaction')
})

test('beyond the queue, further passwords get 429, and known devices have a queue of their own', async () => {
  const work = () => sleep(20)
  const flood = Array.from({ length: 100 }, () => inLane('unknown', work).catch((error: Error) => error))
  let isOver = false
  const over = Promise.all(flood).finally(() => {
    isOver = true
  })
  await inLane('known', work)
  expect(isOver).toBe(false)
  const refused = (await over).filter((result) => result instanceof Error)
  expect(refused).toHaveLength(100 - 2 - 64)
  expect(refused[0]).toMatchObject({ status: 429 })
})

test.each([
  ['short', '9 characters'.slice(0, 9)],
  ['long', 'x'.repeat(201)],
  ['long', '🫖'.repeat(101)],
  ['common', 'password1234'],
  ['personal', 'ada.lovelace'],
])('a %s password is refused', (_name, password) => {
  expect(() => requireGoodPassword(password, ['ada.lovelace@example.com'])).toThrow(/Choose/)
})

import { afterAll, expect, inject, test } from 'vitest'
import { buildUser } from '../../../test/build.ts'
import { openPerson } from '../../../test/person.ts'
import { startServer } from '../../../test/server-process.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { deviceCookie } from './limits.ts'

const platform = await openTestPlatform()
const limits = { SIGN_IN_ATTEMPTS_PER_ADDRESS: '100000', SIGN_IN_VISITS_PER_MINUTE: '100000' }
const server = await startServer({ ...inject('environment'), ROLES: 'api', ...limits })
afterAll(() => server.stop())
const { api } = server
const password = 'vermilion teapot 7'

test('known devices of one account have a limit together', async () => {
  const { email } = await buildUser(platform, { password })
  const statuses: number[] = []
  for (let device = 0; device < 6; device++) {
    const config = { ...platform.config, API_URL: api }
    const person = openPerson(api, deviceCookie(config, email, new Date(Date.now() - device)))
    for (let count = 0; count < 9; count++) {
      statuses.push((await person.post('/sign-in', { email, password: `guess ${count}` })).status)
    }
  }
  expect(statuses.filter((status) => status === 401)).toHaveLength(50)
})

test('the cookie of a known device is limited too, and works for its own user only', async () => {
  const [owner, other] = [await buildUser(platform, { password }), await buildUser(platform, { password })]
  const known = openPerson(api)
  await known.post('/sign-in', { email: owner.email, password })
  const guesses = async (email: string) => {
    const statuses = []
    for (let count = 0; count < 12; count++) {
      statuses.push((await known.post('/sign-in', { email, password: `guess ${count}` })).status)
    }
    return statuses.filter((status) => status === 401).length
  }
  expect(await guesses(owner.email)).toBe(10)
  expect(await guesses(other.email)).toBe(10)
})

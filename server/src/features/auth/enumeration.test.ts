import { randomUUID } from 'node:crypto'
import { afterAll, expect, inject, test, vi } from 'vitest'
import { buildUser } from '../../../test/build.ts'
import { openPerson } from '../../../test/person.ts'
import { startServer } from '../../../test/server-process.ts'
import { sized } from '../../../test/size.ts'
import { openTestPlatform } from '../../../test/stack.ts'

vi.setConfig({ testTimeout: 3_600_000 })
const platform = await openTestPlatform()
const most = '100000000'
const server = await startServer({
  ...inject('environment'),
  ROLES: 'api',
  SIGNUP: 'open',
  SIGN_IN_ATTEMPTS_PER_ADDRESS: most,
  SIGN_IN_ATTEMPTS_PER_ACCOUNT: most,
  SIGN_IN_ATTEMPTS_PER_MINUTE: most,
  SIGN_IN_VISITS_PER_MINUTE: most,
})
afterAll(() => server.stop())
const samples = sized({ short: 40, full: 1_000 })
// Chance exceeds this in one of 15,000 runs.
const maxZ = 4

test.each(['/sign-in', '/sign-in/link', '/reset-password', '/sign-up'])(
  'the time that %s takes does not tell whether an account exists',
  async (path) => {
    const { email } = await buildUser(platform, { password: 'vermilion teapot 7' })
    const person = openPerson(server.api)
    const measure = async (address: string) => {
      const started = performance.now()
      await person.post(path, { email: address, password: 'a wrong password' })
      return performance.now() - started
    }
    for (let count = 0; count < 5; count++) await measure(email)
    const times: { existing: number[]; unknown: number[] } = { existing: [], unknown: [] }
    for (let count = 0; count < samples; count++) {
      // In random order, so that a slow moment of the machine hits both alike.
      const isFirst = Math.random() < 0.5
      for (const isExisting of [isFirst, !isFirst]) {
        const took = await measure(isExisting ? email : `${randomUUID()}@example.com`)
        times[isExisting ? 'existing' : 'unknown'].push(took)
      }
    }
    expect(Math.abs(rankSum(times.existing, times.unknown))).toBeLessThan(maxZ)
  },
)

/** Returns the z-score of the Mann-Whitney test: 0 when neither list tends to be larger. */
function rankSum(one: number[], other: number[]): number {
  const all = [...one.map((value) => ({ value, isOne: true })), ...other.map((value) => ({ value, isOne: false }))]
  all.sort((left, right) => left.value - right.value)
  const ranks = all.reduce((sum, { isOne }, index) => sum + (isOne ? index + 1 : 0), 0)
  const u = ranks - (one.length * (one.length + 1)) / 2
  const mean = (one.length * other.length) / 2
  return (u - mean) / Math.sqrt((one.length * other.length * (one.length + other.length + 1)) / 12)
}

import { randomUUID } from 'node:crypto'
import { afterAll, expect, inject, test, vi } from 'vitest'
import { buildUser } from '../../../test/build.ts'
import { startMailSink } from '../../../test/mail-sink.ts'
import { openPerson } from '../../../test/person.ts'
import { startServer } from '../../../test/server-process.ts'
import { sized } from '../../../test/size.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { hashPassword } from './passwords.ts'
import { upsertPassword } from './store.ts'

vi.setConfig({ testTimeout: 3_600_000 })
const platform = await openTestPlatform()
const mails = await startMailSink()
const most = '100000000'
const server = await startServer({
  ...inject('environment'),
  ROLES: 'api',
  SIGNUP: 'open',
  SMTP_URL: mails.url,
  SIGN_IN_ATTEMPTS_PER_ADDRESS: most,
  SIGN_IN_ATTEMPTS_PER_ACCOUNT: most,
  SIGN_IN_ATTEMPTS_PER_MINUTE: most,
  SIGN_IN_VISITS_PER_MINUTE: most,
})
afterAll(async () => {
  await server.stop()
  await mails.stop()
})
const samples = sized({ short: 40, full: 1_000 })
const warmUps = 20
// Chance exceeds this in one of 15,000 comparisons.
const maxZ = 4

type Sample = { isExisting: boolean; email: string }
type Times = { answer: number; next: number }

test.each(['/sign-in', '/sign-in/link', '/reset-password', '/sign-up'])(
  'the time that %s and the next request take does not reveal whether an account exists',
  async (path) => {
    const person = openPerson(server.api)
    const measure = async (email: string): Promise<Times> => {
      const started = performance.now()
      await person.post(path, { email, password: 'a wrong password' })
      const answered = performance.now()
      // Work that goes on after the answer would delay it.
      await person.get('/sign-in')
      return { answer: answered - started, next: performance.now() - answered }
    }
    const [warmUp, measured] = [await buildSamples(warmUps), await buildSamples(samples)]
    for (const { email } of warmUp) await measure(email)
    const times: Record<'existing' | 'unknown', Times[]> = { existing: [], unknown: [] }
    for (const { isExisting, email } of measured) times[isExisting ? 'existing' : 'unknown'].push(await measure(email))
    const compare = (part: keyof Times) => {
      const [existing, unknown] = [times.existing.map((each) => each[part]), times.unknown.map((each) => each[part])]
      const z = rankSum(existing, unknown)
      const medians = [median(existing), median(unknown)].map((ms) => `${ms.toFixed(3)} ms`).join(' and ')
      console.info(`${path}, ${part}: z ${z.toFixed(2)}, medians ${medians}, ${samples} samples a side`)
      return Math.abs(z)
    }
    expect([compare('answer'), compare('next')].every((z) => z < maxZ)).toBe(true)
  },
)

/** Builds addresses in random order, so that a slow moment of the machine hits both sides alike; each is used once. */
async function buildSamples(count: number): Promise<Sample[]> {
  const hash = await hashPassword('vermilion teapot 7')
  const built: Sample[] = []
  for (let index = 0; index < count; index++) {
    const { id, email } = await buildUser(platform)
    await upsertPassword(platform.db, id, hash)
    built.push({ isExisting: true, email }, { isExisting: false, email: `${randomUUID()}@example.com` })
  }
  const order = new Map(built.map((sample) => [sample, Math.random()]))
  return built.sort((one, other) => (order.get(one) ?? 0) - (order.get(other) ?? 0))
}

/** Returns the z-score of the Mann-Whitney test: 0 when neither list tends to be larger. */
function rankSum(one: number[], other: number[]): number {
  const all = [...one.map((value) => ({ value, isOne: true })), ...other.map((value) => ({ value, isOne: false }))]
  all.sort((left, right) => left.value - right.value)
  const ranks = all.reduce((sum, { isOne }, index) => sum + (isOne ? index + 1 : 0), 0)
  const u = ranks - (one.length * (one.length + 1)) / 2
  const mean = (one.length * other.length) / 2
  return (u - mean) / Math.sqrt((one.length * other.length * (one.length + other.length + 1)) / 12)
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}

import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { buildEarner, buildPartner, buildReward, expectSound, readCommissions } from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { rewardClickDays } from './clicks.ts'
import { explainCommission } from './explain.ts'

const platform = await openTestPlatform()

async function buildWorld(terms = {}) {
  const { program, partner } = await buildEarner(platform, { event: 'click', type: 'flat', amount: 3, ...terms })
  const close = (
    clicks: number,
    given: { id?: string; isLate?: boolean; day?: string; countries?: Record<string, number> } = {},
  ) => {
    const day = {
      day: '2026-05-04',
      linkNumber: String(partner.link.number),
      isLate: false,
      id: randomUUID(),
      ...given,
    }
    return rewardClickDays(platform, [{ workspaceId: program.workspace.id, days: [{ ...day, clicks }] }])
  }
  return { program, partner, close }
}

test('the clicks of a closed day earn once, however often the message comes', async () => {
  const { program, close } = await buildWorld()
  const id = randomUUID()
  await Promise.all([close(7, { id }), close(7, { id })])
  await close(7, { id })
  expect(await readCommissions(program)).toMatchObject([
    { type: 'click', status: 'pending', amount: 0n, earnings: 21n, quantity: 7, description: 'Clicks of 2026-05-04' },
  ])
  await expectSound(platform, program)
})

test('late clicks of a day are a further commission', async () => {
  const { program, close } = await buildWorld()
  await close(7)
  await close(2, { isLate: true })
  await close(1, { isLate: true })
  expect((await readCommissions(program)).map(({ earnings }) => earnings)).toEqual([21n, 6n, 3n])
})

test('a cap limits the days of a message', async () => {
  const cap = { amount: 10, interval: 'month', scope: 'partner' }
  const { program, close } = await buildWorld({ cap })
  await close(2)
  await close(2, { day: '2026-05-05' })
  expect((await readCommissions(program)).map(({ earnings }) => earnings)).toEqual([6n, 4n])
})

test('clicks of different countries earn by their modifiers, in one commission', async () => {
  const country = (value: string[]) => ({ entity: 'customer', attribute: 'country', operator: 'in', value })
  const modifiers = [
    { operator: 'AND', type: 'flat', amount: 10, conditions: [country(['DE', 'AT'])] },
    { operator: 'AND', type: 'flat', amount: 5, conditions: [country(['FR'])] },
  ]
  const { program, close } = await buildWorld({ modifiers })
  await close(11, { countries: { DE: 2, AT: 1, FR: 3, US: 4, '': 1 } })
  const [commission, ...others] = await readCommissions(program)
  expect(others).toEqual([])
  expect(commission).toMatchObject({ earnings: 60n, quantity: 11 })
  const explanation = await explainCommission(program.ctx, commission?.id ?? '')
  expect(explanation.reasoning).toMatchObject({
    earnings: 60,
    conditions: [{ result: null }, { result: null }],
    lines: [
      { countries: ['DE', 'AT'], quantity: 3, matching: [0], modifier: 0, earnings: 30 },
      { countries: ['FR'], quantity: 3, matching: [1], modifier: 1, earnings: 15 },
      { countries: ['US', ''], quantity: 5, matching: [], modifier: null, earnings: 15 },
    ],
  })
  await close(2, { day: '2026-05-05' })
  expect((await readCommissions(program)).map(({ earnings }) => earnings)).toEqual([60n, 6n])
})

test('days of partners whose terms are too large to load at once are decided in parts', async () => {
  const { program, partner } = await buildWorld()
  const value = Array.from({ length: 30_000 }, (_, index) => `country-${String(index).padStart(10, '0')}`)
  const condition = { entity: 'customer', attribute: 'country', operator: 'in', value }
  const modifiers = [{ operator: 'AND', type: 'flat', amount: 10, conditions: [condition] }]
  const links = [partner.link]
  for (let index = 0; index < 15; index++) {
    const other = await buildPartner(platform, program)
    await buildReward(program, { event: 'click', type: 'flat', amount: 5, modifiers }, other)
    links.push(other.link)
  }
  const days = links.map(({ number }) => {
    return { day: '2026-05-04', linkNumber: String(number), isLate: false, id: randomUUID(), clicks: 2 }
  })
  await rewardClickDays(platform, [{ workspaceId: program.workspace.id, days }])
  const earned = (await readCommissions(program)).map(({ earnings }) => earnings)
  expect(earned.sort()).toEqual([...Array(15).fill(10n), 6n])
})

test('clicks on links without a partner earn nothing', async () => {
  const { program } = await buildWorld()
  const day = { day: '2026-05-04', linkNumber: '1', isLate: false, id: randomUUID(), clicks: 5 }
  await rewardClickDays(platform, [{ workspaceId: program.workspace.id, days: [day] }])
  expect(await readCommissions(program)).toEqual([])
})

import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { buildPartner, buildProgram, buildReward, readCommissions } from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { differentBalances } from '../ledger/service.ts'
import { rewardClickDays } from './clicks.ts'

const platform = await openTestPlatform()

async function buildWorld(terms = {}) {
  const program = await buildProgram(platform)
  await buildReward(program, { event: 'click', type: 'flat', amount: 3, ...terms })
  const partner = await buildPartner(platform, program)
  const close = (clicks: number, given: { id?: string; isLate?: boolean; day?: string } = {}) => {
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
  const { rows } = await differentBalances(platform, { after: 0n, count: 100, workspaceId: program.workspace.id })
  expect(rows).toEqual([])
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

test('clicks on links without a partner earn nothing', async () => {
  const { program } = await buildWorld()
  const day = { day: '2026-05-04', linkNumber: '1', isLate: false, id: randomUUID(), clicks: 5 }
  await rewardClickDays(platform, [{ workspaceId: program.workspace.id, days: [day] }])
  expect(await readCommissions(program)).toEqual([])
})

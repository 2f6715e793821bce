import { expect, test } from 'vitest'
import { buildHistory, buildSale, buildVersion } from '../../../test/rewards.ts'
import { decideReward, findVersion, rewardAfterRefund } from './service.ts'

test('the engine finds the version and its cap, decides, and recomputes after a refund', () => {
  const choice = { partner: null, group: buildVersion({ spendLimitAmount: 700, spendLimitScope: 'group' }) }
  const who = { partnerNumber: 1n, customerId: 'cus_1', groupNumber: 2n }
  expect(findVersion(buildSale(), null, choice, who)).toEqual({
    version: choice.group,
    cap: { scope: 'group:2', periodStart: new Date(0) },
  })
  const { why, ...decision } = decideReward(buildSale(), buildHistory(), choice)
  expect(decision).toMatchObject({ earnings: 700n })
  expect(rewardAfterRefund(why, 5_000n)).toBe(500n)
  expect(findVersion(buildSale(), null, { partner: null, group: null }, who)).toBeNull()
})

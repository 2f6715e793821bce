import { expect, test } from 'vitest'
import { buildVersion } from '../../../test/rewards.ts'
import { capKey, remainingCap } from './cap.ts'

const who = { partnerNumber: 7n, customerId: 'cus_1', groupNumber: 3n }

test.each([
  ['day', '2026-03-15T23:59:59.999Z', '2026-03-15T00:00:00Z'],
  ['week', '2026-03-15T23:59:59.999Z', '2026-03-09T00:00:00Z'],
  ['week', '2026-03-16T00:00:00Z', '2026-03-16T00:00:00Z'],
  ['week', '2026-01-01T00:00:00Z', '2025-12-29T00:00:00Z'],
  ['month', '2026-03-31T23:00:00Z', '2026-03-01T00:00:00Z'],
  ['allTime', '2026-03-31T23:00:00Z', '1970-01-01T00:00:00Z'],
] as const)('the %s of %s begins at %s', (spendLimitInterval, at, start) => {
  const version = buildVersion({ spendLimitAmount: 100, spendLimitInterval })
  const scope = `${spendLimitInterval}:partner:7`
  expect(capKey(version, { at: new Date(at) }, who)).toEqual({ scope, periodStart: new Date(start) })
})

test.each([
  ['partner', 'allTime:partner:7'],
  ['customer', 'allTime:customer:7:cus_1'],
  ['group', 'allTime:group:3'],
  ['program', 'allTime:program'],
] as const)('the scope %s is counted as %s', (spendLimitScope, scope) => {
  const version = buildVersion({ spendLimitAmount: 100, spendLimitScope })
  expect(capKey(version, { at: new Date(0) }, who)?.scope).toBe(scope)
})

test('a reward without a limit is not counted', () => {
  expect(capKey(buildVersion(), { at: new Date(0) }, who)).toBeNull()
})

test.each([
  [0n, 100n],
  [99n, 1n],
  [100n, 0n],
  [150n, 0n],
])('after %s of 100 are spent, %s are left', (spent, left) => {
  expect(remainingCap({ amount: 100n }, spent)).toBe(left)
})

import { expect, test } from 'vitest'
import { attribute, type ClickSeen } from './attribution.ts'

const now = new Date('2026-11-15T12:30:00Z')
const hour = Math.floor(now.getTime() / 3_600_000)
const clickAt = (clickId: string, daysAgo: number): ClickSeen => ({
  clickId,
  linkNumber: 1n,
  hour: hour - daysAgo * 24,
})
const fresh = clickAt('fresh', 0)
const first = clickAt('first', 20)
const edge = clickAt('edge', 30)
const old = clickAt('old', 31)

test.each([
  ['last-click', fresh, null, 'fresh', 'last_click'],
  ['last-click', fresh, first, 'fresh', 'last_click'],
  ['last-click', null, first, 'first', 'stored_click'],
  ['last-click', old, first, 'first', 'stored_click'],
  ['last-click', edge, null, 'edge', 'last_click'],
  ['last-click', old, null, undefined, 'outside_window'],
  ['last-click', null, old, undefined, 'outside_window'],
  ['last-click', old, old, undefined, 'outside_window'],
  ['last-click', null, null, undefined, 'no_click'],
  ['first-click', fresh, null, 'fresh', 'last_click'],
  ['first-click', fresh, first, 'first', 'first_click'],
  ['first-click', first, first, 'first', 'stored_click'],
  ['first-click', null, first, 'first', 'stored_click'],
  ['first-click', fresh, old, 'fresh', 'last_click'],
  ['first-click', old, old, undefined, 'outside_window'],
] as const)('%s: the click %o with the stored click %o is %s', (model, given, stored, clickId, reason) => {
  const attribution = attribute({ given, stored, model, windowDays: 30, now })
  expect(attribution.click?.clickId).toBe(clickId)
  expect(attribution.reason).toBe(reason)
})

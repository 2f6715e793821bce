import { expect, test } from 'vitest'
import { compareRows, orderRows, relativeChange } from './compare-rows.ts'
import type { Row } from './dimensions.ts'

const row = (utm_campaign: string, clicks: number) =>
  ({ utm_campaign, clicks, leads: 0, sales: 0, saleAmount: 0 }) as unknown as Row
const names = (rows: readonly { row: Row }[]) => rows.map(({ row }) => row.utm_campaign)

test('what has no clicks any more is among those that fell', () => {
  const rows = [row('autumn', 90), row('menu', 50), row('new', 7)]
  const before = [row('gone', 400), row('autumn', 120), row('menu', 20)]
  const compared = compareRows('utm_campaigns', { rows, before, limit: 1_000 }, 'clicks')
  expect(names(orderRows(compared, 'highest'))).toEqual(['autumn', 'menu', 'new'])
  expect(names(orderRows(compared, 'fell'))).toEqual(['gone', 'autumn'])
  expect(names(orderRows(compared, 'rose'))).toEqual(['menu', 'new'])
  expect(compared.find(({ key }) => key === 'new')?.before).toBe(0)
})

test('nothing is said of rows that a cut list may have left out', () => {
  const rows = [row('autumn', 90), row('menu', 50)]
  const before = [row('gone', 400), row('autumn', 120)]
  const compared = compareRows('utm_campaigns', { rows, before, limit: 2 }, 'clicks')
  expect(names(compared)).toEqual(['autumn', 'menu'])
  expect(compared.map(({ before }) => before)).toEqual([120, undefined])
  expect(names(orderRows(compared, 'rose'))).toEqual([])
})

test('a change from zero has no share', () => {
  expect(relativeChange(3, 2)).toBe(0.5)
  expect(relativeChange(3, 0)).toBeUndefined()
  expect(relativeChange(-100, -50)).toBe(-1)
})

import { expect, test } from 'vitest'
import { allColumns, chooseColumns, toggleColumn } from './columns.ts'

test('the address wins over the person, and the person over the default', () => {
  expect(chooseColumns('created,tags,nothing', ['clicks'])).toEqual({ names: ['tags', 'created'], isDefault: false })
  expect(chooseColumns(undefined, ['clicks'])).toEqual({ names: ['clicks'], isDefault: false })
  expect(chooseColumns(undefined, null).isDefault).toBe(true)
  expect(chooseColumns(undefined, []).names).toEqual([])
})

test('a column comes back where it was', () => {
  const without = toggleColumn(allColumns, 'clicks')
  expect(without).not.toContain('clicks')
  expect(toggleColumn(without, 'clicks')).toEqual(allColumns)
})

import { expect, test } from 'vitest'
import { bulkFilter } from './bulk-filter.ts'

test('selected links are named one by one, archived ones too', () => {
  expect(bulkFilter({ ids: ['a', 'b'], isAll: false }, { search: 'x' }, 'UTC')).toEqual({
    linkIds: ['a', 'b'],
    showArchived: true,
  })
})

test('all links that match are named by the filters of the address', () => {
  const search = {
    search: 'x',
    tags: 't1,t2',
    folder: 'f',
    domain: 'd',
    state: 'expired',
    created: '2026-01-01..',
    sort: 'clicks',
  } as const
  expect(bulkFilter({ ids: [], isAll: true }, search, 'UTC')).toEqual({
    search: 'x',
    tagIds: ['t1', 't2'],
    folderId: 'f',
    domain: 'd',
    state: 'expired',
    start: '2026-01-01T00:00:00.000Z',
  })
  expect(bulkFilter({ ids: [], isAll: true }, {}, 'UTC')).toEqual({})
})

import { describe, expect, test } from 'vitest'
import { readViewQuery } from './view-query.ts'

describe('readViewQuery', () => {
  test('reads filters and leaves out what only changes the looks of the screen', () => {
    const looks = { measure: 'sales', chart: 'bars', compare: 'year', order: 'fell', tabs: 'cities', map: 'true' }
    expect(readViewQuery({ ...looks, country: '-DE', tagId: 'tag_1', root: 'false' })).toEqual({
      filter: { country: '-DE', tagId: 'tag_1', root: false, bots: 'exclude' },
      period: { name: '30d' },
    })
  })

  test.each([
    [{ period: 'wtd' }, { name: 'wtd' }],
    [{ interval: '7d' }, { name: '7d' }],
    [{ period: '2026-01-01..2026-01-31' }, { start: '2026-01-01', end: '2026-01-31' }],
    [{ start: '2026-01-01', interval: '7d' }, { start: '2026-01-01' }],
  ])('the period of %j', (query: Record<string, string>, period) => {
    expect(readViewQuery(query)).toMatchObject({ period })
  })

  test.each([
    [{ customerId: 'cus_1' }, 'customerId'],
    [{ tags: 'tag_1' }, 'tags'],
    [{ qr: 'true' }, 'qr'],
    [{ groupBy: 'count' }, 'groupBy'],
    [{ period: 'fortnight' }, 'period'],
    [{ interval: 'fortnight' }, 'interval'],
    [{ bots: 'maybe' }, 'bots'],
  ])('%j can not be shared', (query: Record<string, string>, name) => {
    expect(readViewQuery(query)).toEqual({ problem: expect.stringContaining(`\`${name}\``) })
  })
})

import { expect, test } from 'vitest'
import { parseDeliveriesSearch } from './search.ts'

test('the address has the filters and the open delivery, and nothing else', () => {
  const address = { status: 'failed', event: 'sale.created', delivery: 'evt_0-1', other: 1 }
  expect(parseDeliveriesSearch(address)).toEqual({ status: 'failed', event: 'sale.created', delivery: 'evt_0-1' })
  expect(parseDeliveriesSearch({ status: 'lost', event: 'sale', delivery: '../x' })).toEqual({})
})

import { expect, test } from 'vitest'
import { prettyBody, readableBody } from './readable-body.ts'

const event = {
  id: 'evt_1',
  event: 'sale.created',
  createdAt: '2026-11-01T12:00:00.000Z',
  data: {
    eventName: 'Purchase',
    customer: { id: 'cus_1', email: null, tags: ['a', 'b'], address: { city: 'Bonn' } },
    sale: { amount: 4900, currency: 'usd', invoiceId: '' },
  },
}

test('each object of the data is a group; fields that are not set are left out', () => {
  expect(readableBody(JSON.stringify(event))).toEqual([
    {
      name: '',
      fields: [
        ['id', 'evt_1'],
        ['event', 'sale.created'],
        ['createdAt', '2026-11-01T12:00:00.000Z'],
      ],
    },
    { name: 'data', fields: [['eventName', 'Purchase']] },
    {
      name: 'customer',
      fields: [
        ['id', 'cus_1'],
        ['tags', 'a, b'],
        ['address.city', 'Bonn'],
      ],
    },
    {
      name: 'sale',
      fields: [
        ['amount', '4900'],
        ['currency', 'usd'],
      ],
    },
  ])
})

test('a body that is not an object is shown as it is', () => {
  expect(readableBody('not json')).toEqual([{ name: '', fields: [['', 'not json']] }])
  expect(prettyBody('not json')).toBe('not json')
})

test('a huge body shows a part', () => {
  const data = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`field${index}`, 'x'.repeat(5_000)]))
  const groups = readableBody(JSON.stringify({ data }))
  const fields = groups.flatMap(({ fields }) => fields)
  expect(fields).toHaveLength(300)
  expect(fields[0]?.[1]).toHaveLength(1_001)
})

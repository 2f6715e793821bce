import { expect, test } from 'vitest'
import { recognizeColumns } from './columns.ts'
import { namedDomains, readRows } from './rows.ts'

const read = (head: string[], ...rows: string[][]) => readRows(rows, { columns: recognizeColumns(head) })

test('a row of Bitly becomes a link with the address that it had', () => {
  const [row] = read(['Link', 'Title', 'Long URL', 'Tags'], ['https://bit.ly/3xY', 'Sale', 'https://acme.com', 'a, b'])
  expect(row).toEqual({
    line: 2,
    link: { url: 'https://acme.com', domain: 'bit.ly', key: '3xY', title: 'Sale' },
    tags: ['a', 'b'],
    folder: '',
  })
})

test('a row of Rebrandly has its slashtag, and tags in brackets are read', () => {
  const head = ['Destination URL', 'Short URL', 'Slashtag', 'Tags']
  const [row] = read(head, ['https://acme.com', 'rebrand.ly/sale', 'sale', '["x","y"]'])
  expect(row).toMatchObject({ link: { domain: 'rebrand.ly', key: 'sale' }, tags: ['x', 'y'] })
})

test('rows without a destination and repeated addresses are found', () => {
  const head = ['url', 'key']
  const rows = read(
    head,
    ['https://a.com', 'x'],
    ['nope', 'y'],
    ['https://b.com', 'X'],
    ['https://b.com', ''],
    ['https://b.com', ''],
  )
  expect(rows.map(({ problem }) => problem)).toEqual([undefined, 'url', 'duplicate', undefined, undefined])
  expect(rows.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6])
})

test('another domain replaces that of the file', () => {
  const columns = recognizeColumns(['Link', 'Long URL'])
  const rows = [['https://bit.ly/a', 'https://acme.com']]
  expect(namedDomains(rows, columns)).toEqual(['bit.ly'])
  expect(readRows(rows, { columns, domain: 'go.acme.com' })[0]?.link).toMatchObject({ domain: 'go.acme.com', key: 'a' })
})

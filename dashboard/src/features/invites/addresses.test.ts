import { expect, test } from 'vitest'
import { readAddresses } from './addresses.ts'

test.each([
  ['ada@example.com', ['ada@example.com']],
  [
    'Ada <Ada@Example.com>, bob@example.com;\ncarl@example.com',
    ['ada@example.com', 'bob@example.com', 'carl@example.com'],
  ],
  ['ada@example.com ADA@example.com', ['ada@example.com']],
  ['"Grace Hopper" <grace@example.com>.', ['grace@example.com']],
  ['nobody', []],
  ['', []],
])('%j', (text, addresses) => {
  expect(readAddresses(text)).toEqual(addresses)
})

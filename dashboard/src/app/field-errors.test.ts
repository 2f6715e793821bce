import { expect, test } from 'vitest'
import { findErrorField } from './field-errors.ts'

test('an error belongs to the field that it names first', () => {
  expect(findErrorField('`slug` in the body must be a host name.', ['name', 'slug'])).toBe('slug')
  expect(findErrorField('`invites[3].email` in the body is no address.', ['invites'])).toBe('invites')
})

test('an error of no known field belongs to the form', () => {
  expect(findErrorField('`other` in the body is required.', ['slug'])).toBeUndefined()
  expect(findErrorField('The plan allows 3 domains.', ['slug'])).toBeUndefined()
})

import { expect, test } from 'vitest'
import { fieldMessage, findErrorField } from './field-errors.ts'

test('an error belongs to the field that it names first', () => {
  expect(findErrorField('`slug` in the body must be a host name.', ['name', 'slug'])).toBe('slug')
  expect(findErrorField('`invites[3].email` in the body is no address.', ['invites'])).toBe('invites')
})

test('an error of no known field belongs to the form', () => {
  expect(findErrorField('`other` in the body is required.', ['slug'])).toBeUndefined()
  expect(findErrorField('The plan allows 3 domains.', ['slug'])).toBeUndefined()
})

test('below its field a message does not repeat the name', () => {
  expect(fieldMessage('`slug` in the body must be a host name.')).toBe('Must be a host name.')
  expect(fieldMessage('`key` is reserved.')).toBe('Is reserved.')
  expect(fieldMessage('The slug acme is taken.')).toBe('The slug acme is taken.')
})

import { expect, test } from 'vitest'
import { linkColumns } from './settings.ts'

const now = new Date('2026-01-01T00:00:00Z')

test.each(['9999999 days ago', '0000-01-01', 'in 9000 years'])(
  'a date outside the years 1 to 9999 is refused: %s',
  (expiresAt) => {
    const refusal = '`expiresAt` in the body must be between the years 1 and 9999.'
    expect(() => linkColumns({ expiresAt }, 'https://example.com', now)).toThrow(refusal)
  },
)

test.each(['0001-01-01', '9999-12-31', 'in 3 days'])('a date in the years 1 to 9999 is accepted: %s', (expiresAt) => {
  expect(linkColumns({ expiresAt }, 'https://example.com', now).expires_at).toBeInstanceOf(Date)
})

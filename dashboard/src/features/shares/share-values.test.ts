import { describe, expect, test } from 'vitest'
import { dayEnd, isComplete, isEnded, readValues, type Share, writeValues } from './share-values.ts'

const berlin = 'Europe/Berlin'
const share = {
  ...{ title: 'Spring', hasPassword: true, endsAt: '2026-05-31T22:00:00.000Z', showConversions: true },
} as Share

test('the end is the end of a day in the time zone of the workspace, also when clocks change', () => {
  expect(dayEnd('2026-05-31', berlin).toISOString()).toBe('2026-05-31T22:00:00.000Z')
  expect(dayEnd('2026-03-29', berlin).toISOString()).toBe('2026-03-29T22:00:00.000Z')
  expect(dayEnd('2026-10-25', berlin).toISOString()).toBe('2026-10-25T23:00:00.000Z')
  expect(dayEnd('2026-05-31', 'Pacific/Kiritimati').toISOString()).toBe('2026-05-31T10:00:00.000Z')
  expect(readValues(share, berlin).lastDay).toBe('2026-05-31')
})

describe('the body', () => {
  test('has what the form has; an empty title is none', () => {
    const values = { ...readValues(undefined, berlin), title: '  ', lastDay: '2026-05-31' }
    expect(writeValues(values, berlin)).toEqual({
      ...{ title: null, password: null, endsAt: share.endsAt, showConversions: false },
    })
  })

  test('leaves a password that was not typed, and removes one that is off', () => {
    const values = readValues(share, berlin)
    expect(writeValues(values, berlin)).not.toHaveProperty('password')
    expect(writeValues({ ...values, password: 'hush' }, berlin)).toMatchObject({ password: 'hush' })
    expect(writeValues({ ...values, hasPassword: false, password: 'hush' }, berlin)).toMatchObject({ password: null })
    expect([isComplete(values, share), isComplete(values)]).toEqual([true, false])
  })
})

test('a share has ended from its end on', () => {
  const end = Date.parse(share.endsAt ?? '')
  expect([isEnded(share, end - 1), isEnded(share, end), isEnded({ endsAt: null })]).toEqual([false, true, false])
})

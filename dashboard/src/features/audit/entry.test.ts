import { expect, test } from 'vitest'
import { compareFields } from './entry.ts'

test('only fields that differ are shown; hidden ones always', () => {
  const before = { url: 'https://a.example', key: 'a', title: null, secret: { redacted: 'secret' } }
  const after = { url: 'https://b.example', key: 'a', title: '', tags: ['x'], secret: { redacted: 'secret' } }
  expect(compareFields({ before, after })).toEqual([
    { field: 'url', before: { text: 'https://a.example' }, after: { text: 'https://b.example' } },
    { field: 'secret', before: { redacted: 'secret' }, after: { redacted: 'secret' } },
    { field: 'tags', before: undefined, after: { text: '["x"]' } },
  ])
})

test('what was created has no former values, and what was deleted no new ones', () => {
  expect(compareFields({ before: null, after: { key: 'a' } })).toEqual([
    { field: 'key', before: undefined, after: { text: 'a' } },
  ])
  expect(compareFields({ before: { key: 'a' }, after: null })).toEqual([
    { field: 'key', before: { text: 'a' }, after: undefined },
  ])
  expect(compareFields({ before: null, after: null })).toEqual([])
})

test('huge entries show a part', () => {
  const after = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}`, 'x'.repeat(9_000)]))
  const fields = compareFields({ before: null, after })
  expect(fields).toHaveLength(200)
  expect(fields[0]?.after).toEqual({ text: `${'x'.repeat(2_000)}…` })
})

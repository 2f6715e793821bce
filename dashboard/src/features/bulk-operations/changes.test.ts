import { expect, test } from 'vitest'
import { listChanges } from './changes.ts'

type Link = Parameters<typeof listChanges>[0]
const link = {
  url: 'https://example.com/a',
  comments: null,
  archived: false,
  tags: [{ id: 't1', name: 'News', color: 'red' }],
  updatedAt: '2026-01-01',
} as unknown as Link

test('only fields that differ are listed, and none that always do', () => {
  const after = { ...link, archived: true, comments: 'x', updatedAt: '2026-01-02' }
  expect(listChanges(link, after)).toEqual([
    { field: 'comments', before: '', after: 'x' },
    { field: 'archived', before: '', after: 'true' },
  ])
})

test('tags are listed by name', () => {
  const after = { ...link, tags: [...(link.tags ?? []), { id: 't2', name: 'Fair', color: 'blue' as const }] }
  expect(listChanges(link, after)).toEqual([{ field: 'tags', before: 'News', after: 'News, Fair' }])
})

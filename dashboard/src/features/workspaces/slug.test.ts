import { expect, test } from 'vitest'
import { isSlug, suggestSlug } from './slug.ts'

test.each([
  ['Acme', 'acme'],
  ['Müller & Söhne', 'muller-sohne'],
  ['  The  Shop! ', 'the-shop'],
  ['株式会社', ''],
])('a workspace named %s gets the slug %j', (name, slug) => {
  expect(suggestSlug(name)).toBe(slug)
})

test.each([
  ['acme', true],
  ['ab', false],
  ['-acme', false],
  ['Acme', false],
  ['a'.repeat(49), false],
])('%s is a slug: %s', (slug, expected) => {
  expect(isSlug(slug)).toBe(expected)
})

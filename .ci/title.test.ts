import { expect, test } from 'vitest'
import { titleFault } from './title.ts'

test.each([
  'feat(links): refuse a taken slug',
  'fix(discount-codes): count each use once',
  'refactor(events)!: name the click id',
  'docs(adr): choose NATS 2.15',
])('accepts %s', (title) => {
  expect(titleFault(title)).toBeUndefined()
})

test.each([
  ['', 'form'],
  ['refuse a taken slug', 'form'],
  ['feat(links) refuse a taken slug', 'form'],
  ['feat(links):refuse a taken slug', 'form'],
  ['feature(links): refuse a taken slug', 'type'],
  ['feat: refuse a taken slug', 'noun'],
  ['feat(): refuse a taken slug', 'noun'],
  ['feat(Links): refuse a taken slug', 'noun'],
  ['feat(links): ', 'what changed'],
  ['feat(links): refuse a taken slug.', 'full stop'],
  [`feat(links): ${'refuse '.repeat(20)}it`, 'characters'],
])('refuses "%s"', (title, reason) => {
  expect(titleFault(title)).toContain(reason)
})

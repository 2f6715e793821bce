import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { style } from './style.ts'

const tokens = readFileSync(new URL('../../../../../dashboard/src/app/tokens.css', import.meta.url), 'utf8')
const plain = (value = '') => value.replaceAll(/\s/g, '').replaceAll('0.', '.')
const readTokens = (css: string) =>
  new Map([...css.matchAll(/--([\w-]+):([^;}]+)/g)].map(([, name, value]) => [name, plain(value)]))

test('the sign-in pages have the colours of the dashboard', () => {
  const shared = readTokens(tokens)
  const own = readTokens(style)
  expect(own.size).toBeGreaterThan(10)
  for (const [name, value] of own) expect([name, value]).toEqual([name, shared.get(name)])
})

import fc from 'fast-check'
import type { RawClick } from '../src/features/redirect/messages.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'binary-ascii', maxLength: 200 }),
  fc.string({ unit: fc.constantFrom('\0', '\n', '"', 'é', '☕', '😀', '\ud800'), maxLength: 60 }),
)
/** Clicks as the redirect logs them, with texts of any characters. */
export const anyClick: fc.Arbitrary<RawClick> = fc.record({
  id: text,
  at: fc.maxSafeInteger(),
  workspaceId: text,
  linkNumber: text,
  url: text,
  trigger: fc.constantFrom('link', 'qr', 'pageview'),
  ip: text,
  userAgent: text,
  referer: text,
  bot: text,
  country: text,
  region: text,
  city: text,
  continent: text,
})

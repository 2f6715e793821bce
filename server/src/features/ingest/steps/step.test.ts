import { expect, test } from 'vitest'
import { startDraft } from './step.ts'

const raw = {
  id: 'id',
  at: 1,
  workspaceId: 'ws',
  linkNumber: '7',
  url: 'https://example.com/?utm_source=x',
  trigger: 'qr',
  ip: '203.0.113.9',
  userAgent: 'agent',
  referer: 'https://example.org/',
  bot: 'head',
  country: 'US',
  region: 'CA',
  city: 'Paris',
  continent: 'NA',
} as const

test('startDraft copies the fields of the logged click and marks other fields as unknown', () => {
  expect(startDraft(raw)).toEqual({
    raw,
    event: {
      id: 'id',
      at: 1,
      workspaceId: 'ws',
      linkNumber: '7',
      url: 'https://example.com/?utm_source=x',
      trigger: 'qr',
      ip: '203.0.113.9',
      country: 'Unknown',
      region: 'Unknown',
      city: 'Unknown',
      continent: 'Unknown',
      device: 'Unknown',
      browser: 'Unknown',
      os: 'Unknown',
      referer: '(direct)',
      refererUrl: '(direct)',
      utmSource: '',
      utmMedium: '',
      utmCampaign: '',
      utmTerm: '',
      utmContent: '',
      bot: '',
    },
  })
})

import { expect, test } from 'vitest'
import type { RawClick } from '../../redirect/messages.ts'
import { putUtm } from './put-utm.ts'
import { type ClickEvent, startDraft } from './step.ts'

test.each<[string, Partial<ClickEvent>]>([
  ['https://example.com/', {}],
  ['https://example.com/?a=b', {}],
  [
    'https://example.com/?utm_source=a&utm_medium=b&utm_campaign=c&utm_term=d&utm_content=e',
    { utmSource: 'a', utmMedium: 'b', utmCampaign: 'c', utmTerm: 'd', utmContent: 'e' },
  ],
  ['https://example.com/?utm_source=june+sale%20%26%20more', { utmSource: 'june sale & more' }],
  ['https://example.com/?utm%5Fsource=x', { utmSource: 'x' }],
  ['https://example.com/?utm_source=first&utm_source=second', { utmSource: 'first' }],
  ['https://example.com/?utm_source=', {}],
  ['https://example.com/?utm_source', {}],
  ['https://example.com/?UTM_SOURCE=x&xutm_source=y', {}],
  ['https://example.com/?a=b#?utm_source=x', {}],
  ['https://example.com/#a?utm_source=x', {}],
  ['https://example.com/?utm_source=x#utm_source=y', { utmSource: 'x' }],
  ['https://example.com/?next=/?utm_source=x', {}],
  ['https://example.com/?utm_source=%E0%A4%A', { utmSource: '\uFFFD%A' }],
  [`https://example.com/?utm_source=${'a'.repeat(300)}`, { utmSource: 'a'.repeat(255) }],
  [`https://example.com/?utm_term=${'%F0%9F%8D%8B'.repeat(300)}`, { utmTerm: '🍋'.repeat(255) }],
  ['shop://product/5?utm_campaign=app', { utmCampaign: 'app' }],
  ['', {}],
])('%s', (url, utm) => {
  const draft = startDraft({ url } as RawClick)
  expect(putUtm(draft)).toEqual({ keep: { raw: draft.raw, event: { ...draft.event, ...utm } } })
})

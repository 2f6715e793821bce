import { expect, test } from 'vitest'
import type { RawClick } from '../../redirect/messages.ts'
import { putReferrer } from './put-referrer.ts'
import { startDraft } from './step.ts'

test.each<[string, string, string]>([
  ['', '(direct)', '(direct)'],
  ['https://www.google.com/', 'google.com', 'https://www.google.com/'],
  ['https://www.google.com', 'google.com', 'https://www.google.com/'],
  ['http://News.Example.ORG:8080/a?b=c#d', 'news.example.org', 'http://news.example.org:8080/a?b=c#d'],
  ['HTTPS://WWW.EXAMPLE.COM/Path', 'example.com', 'https://www.example.com/Path'],
  ['https://www2.example.com/', 'www2.example.com', 'https://www2.example.com/'],
  ['https://www.com/', 'www.com', 'https://www.com/'],
  ['https://münchen.example/', 'xn--mnchen-3ya.example', 'https://xn--mnchen-3ya.example/'],
  ['https://[::1]:3000/', '[::1]', 'https://[::1]:3000/'],
  ['https://name:secret@example.com/', 'example.com', 'https://example.com/'],
  ['android-app://com.google.android.gm/', '(direct)', '(direct)'],
  ['about:blank', '(direct)', '(direct)'],
  ['javascript:alert(1)', '(direct)', '(direct)'],
  ['example.com', '(direct)', '(direct)'],
  ['https://', '(direct)', '(direct)'],
  ['null', '(direct)', '(direct)'],
])('%s', (text, referer, refererUrl) => {
  const draft = startDraft({ referer: text } as RawClick)
  expect(putReferrer(draft)).toEqual({ keep: { raw: draft.raw, event: { ...draft.event, referer, refererUrl } } })
})

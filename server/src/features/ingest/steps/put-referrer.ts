import { memo } from '../../../platform/memo.ts'
import type { ClickDraft, Outcome } from './step.ts'

/** Sets a click's referrer: the host and URL of the page that the visitor came from. */
export function putReferrer(draft: ClickDraft): Outcome {
  const page = draft.raw.referer === '' ? null : readReferrer(draft.raw.referer)
  if (page) {
    draft.event.referer = page.host
    draft.event.refererUrl = page.url
  }
  return { keep: draft }
}

type Page = { host: string; url: string }

const longestHost = 253
const readReferrer = memo(parseReferrer, { maxBytes: 4_000_000, most: 5_000, maxKeyLength: 300 })

function parseReferrer(text: string): Page | null {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null
  if (url.hostname.length > longestHost) return null
  if (url.username !== '') url.username = ''
  if (url.password !== '') url.password = ''
  return { host: withoutWww(url.hostname), url: url.href }
}

function withoutWww(host: string): string {
  return host.startsWith('www.') && host.includes('.', 4) ? host.slice(4) : host
}

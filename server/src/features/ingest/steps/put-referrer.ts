import type { ClickDraft, Outcome } from './step.ts'

/** Puts host and address of the page that the visitor came from. */
export function putReferrer(draft: ClickDraft): Outcome {
  const page = readReferrer(draft.raw.referer)
  if (!page) return { keep: draft }
  return { keep: { raw: draft.raw, event: { ...draft.event, referer: page.host, refererUrl: page.url } } }
}

function readReferrer(text: string): { host: string; url: string } | null {
  if (text === '') return null
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null
  if (url.username !== '') url.username = ''
  if (url.password !== '') url.password = ''
  return { host: withoutWww(url.hostname), url: url.href }
}

function withoutWww(host: string): string {
  return host.startsWith('www.') && host.includes('.', 4) ? host.slice(4) : host
}

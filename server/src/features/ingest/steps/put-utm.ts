import { openByteCache } from '../../../platform/byte-cache.ts'
import type { ClickDraft, ClickEvent, Outcome } from './step.ts'

/** Puts the five utm values of the destination. */
export function putUtm(draft: ClickDraft): Outcome {
  const query = queryOf(draft.raw.url)
  if (!query.includes('utm') && !query.includes('%')) return { keep: draft }
  return { keep: { raw: draft.raw, event: { ...draft.event, ...valuesIn(query) } } }
}

type Utm = Pick<ClickEvent, 'utmSource' | 'utmMedium' | 'utmCampaign' | 'utmTerm' | 'utmContent'>

// Most clicks lead to few destinations; what is longer is read anew each time, so that nobody can fill the memory.
const longestCached = 500
const known = openByteCache<Utm>({ maxBytes: 4_000_000, most: 5_000 })

function valuesIn(query: string): Utm {
  if (query.length > longestCached) return readValues(query)
  let utm = known.get(query)
  if (!utm) {
    utm = readValues(query)
    known.set(query, utm)
  }
  return utm
}

function readValues(query: string): Utm {
  const values = new URLSearchParams(query)
  return {
    utmSource: truncated(values.get('utm_source')),
    utmMedium: truncated(values.get('utm_medium')),
    utmCampaign: truncated(values.get('utm_campaign')),
    utmTerm: truncated(values.get('utm_term')),
    utmContent: truncated(values.get('utm_content')),
  }
}

const longestValue = 255

/** By whole characters. */
function truncated(value: string | null): string {
  if (value === null || value.length <= longestValue) return value ?? ''
  return Array.from(value).slice(0, longestValue).join('')
}

function queryOf(url: string): string {
  const hash = url.indexOf('#')
  const beforeHash = hash === -1 ? url : url.slice(0, hash)
  const question = beforeHash.indexOf('?')
  return question === -1 ? '' : beforeHash.slice(question + 1)
}

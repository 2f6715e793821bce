import { memo } from '../../../platform/memo.ts'
import { cutQuery, readParameters } from '../../../platform/query-string.ts'
import type { ClickDraft, ClickEvent, Outcome } from './step.ts'

/** Sets a click's five UTM values from the destination URL. */
export function putUtm(draft: ClickDraft): Outcome {
  const query = cutQuery(draft.raw.url)
  if (query.includes('utm') || query.includes('%')) {
    const { event } = draft
    const found = readUtm(query)
    event.utmSource = found.utmSource
    event.utmMedium = found.utmMedium
    event.utmCampaign = found.utmCampaign
    event.utmTerm = found.utmTerm
    event.utmContent = found.utmContent
  }
  return { keep: draft }
}

type Utm = Pick<ClickEvent, 'utmSource' | 'utmMedium' | 'utmCampaign' | 'utmTerm' | 'utmContent'>

// A small cache suffices, because most clicks lead to few destinations.
const readUtm = memo(parseUtm, { maxBytes: 4_000_000, most: 5_000, maxKeyLength: 500 })

function parseUtm(query: string): Utm {
  const values = readParameters(query, utmNames)
  return {
    utmSource: truncated(values.utm_source),
    utmMedium: truncated(values.utm_medium),
    utmCampaign: truncated(values.utm_campaign),
    utmTerm: truncated(values.utm_term),
    utmContent: truncated(values.utm_content),
  }
}

const utmNames = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const
const longestValue = 255

/** Truncates a UTM value between two characters. */
function truncated(value: string | null): string {
  if (value === null || value.length <= longestValue) return value ?? ''
  return Array.from(value).slice(0, longestValue).join('')
}

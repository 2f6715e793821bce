import type { ClickDraft, Outcome } from './step.ts'

/** Puts the five utm values of the destination. */
export function putUtm(draft: ClickDraft): Outcome {
  const query = queryOf(draft.raw.url)
  if (query === '') return { keep: draft }
  const values = new URLSearchParams(query)
  return {
    keep: {
      raw: draft.raw,
      event: {
        ...draft.event,
        utmSource: values.get('utm_source') ?? '',
        utmMedium: values.get('utm_medium') ?? '',
        utmCampaign: values.get('utm_campaign') ?? '',
        utmTerm: values.get('utm_term') ?? '',
        utmContent: values.get('utm_content') ?? '',
      },
    },
  }
}

function queryOf(url: string): string {
  const hash = url.indexOf('#')
  const beforeHash = hash === -1 ? url : url.slice(0, hash)
  const question = beforeHash.indexOf('?')
  return question === -1 ? '' : beforeHash.slice(question + 1)
}

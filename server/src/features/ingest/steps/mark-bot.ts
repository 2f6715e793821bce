import { isbot } from 'isbot'
import { openByteCache } from '../../../platform/byte-cache.ts'
import type { ClickDraft, Outcome, StepContext } from './step.ts'

/** Keeps bots but says why they are taken for one; the reason that the edge saw comes first. */
export function markBot(draft: ClickDraft, { isDataCentre }: StepContext): Outcome {
  const { raw } = draft
  const bot = raw.bot || userAgentReason(raw.userAgent) || (isDataCentre(raw.ip) ? 'datacenter' : '')
  return bot ? { keep: { raw, event: { ...draft.event, bot } } } : { keep: draft }
}

const longestUserAgent = 500
const known = openByteCache<string>({ maxBytes: 8_000_000, most: 20_000 })

function userAgentReason(userAgent: string): string {
  if (userAgent.length > longestUserAgent) return reasonOf(userAgent.slice(0, longestUserAgent))
  let reason = known.get(userAgent)
  if (reason === undefined) {
    reason = reasonOf(userAgent)
    known.set(userAgent, reason)
  }
  return reason
}

function reasonOf(userAgent: string): string {
  if (userAgent.trim() === '') return 'no-user-agent'
  return isbot(userAgent) ? 'user-agent' : ''
}

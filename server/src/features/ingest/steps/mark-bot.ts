import { isbot } from 'isbot'
import { memo } from '../../../platform/memo.ts'
import type { ClickDraft, Outcome, StepContext } from './step.ts'

/** Marks a click by a bot with the reason and keeps it. A reason that the redirect found takes precedence. */
export function markBot(draft: ClickDraft, { isDataCentre }: StepContext): Outcome {
  const { raw } = draft
  const bot = raw.bot || judgeUserAgent(raw.userAgent) || (isDataCentre(raw.ip) ? 'datacenter' : '')
  draft.event.bot = bot
  return { keep: draft }
}

const longestUserAgent = 500
const judgeUserAgent = memo(
  (userAgent) => {
    const start = userAgent.slice(0, longestUserAgent)
    if (start.trim() === '') return 'no-user-agent'
    return isbot(start) ? 'user-agent' : ''
  },
  { maxBytes: 8_000_000, most: 20_000, maxKeyLength: longestUserAgent },
)

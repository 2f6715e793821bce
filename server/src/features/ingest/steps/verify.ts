import { clickHour, readClickId } from '../../click-ids/service.ts'
import type { ClickDraft, Outcome, StepContext } from './step.ts'

/** Rejects a click whose id was not signed with our keys for its link and hour. */
export function verify(draft: ClickDraft, context: StepContext): Outcome {
  const { id, at, linkNumber } = draft.raw
  if (!/^(0|[1-9]\d{0,19})$/.test(linkNumber) || !(Number.isInteger(at) && at >= 0 && at <= latestMs))
    return { reject: 'malformed' }
  const token = readClickId(context.clickKeys, id)
  if (!token || token.linkNumber !== BigInt(linkNumber)) return { reject: 'forged_click_id' }
  // The redirect creates a click id a moment before it sets the click's time, perhaps in the previous hour.
  if (Math.abs(token.hour - clickHour(at)) > 1) return { reject: 'forged_click_id' }
  return { keep: draft }
}

const latestMs = Date.UTC(2299, 11, 31)

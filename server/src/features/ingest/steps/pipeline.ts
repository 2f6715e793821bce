import type { RawClick } from '../../redirect/messages.ts'
import { dropDuplicate } from './drop-duplicate.ts'
import { markBot } from './mark-bot.ts'
import { putDevice } from './put-device.ts'
import { putIp } from './put-ip.ts'
import { putLocation } from './put-location.ts'
import { putReferrer } from './put-referrer.ts'
import { putUtm } from './put-utm.ts'
import { type ClickDraft, type ClickEvent, type Outcome, type Step, type StepContext, startDraft } from './step.ts'
import { verify } from './verify.ts'

/** Steps that decide whether a click is valid and whether it is by a bot. The intent records their results. */
export const validationSteps: Step[] = [verify, markBot]
export const deduplicationSteps: Step[] = [dropDuplicate]
/** Steps that add location, device, referrer and UTM values to a click that is kept. */
export const enrichmentSteps: Step[] = [putLocation, putIp, putDevice, putReferrer, putUtm]

export function begin(click: RawClick): Outcome {
  return { keep: startDraft(click) }
}

/** Runs the steps in order until a step drops or rejects the click. */
export function run(outcome: Outcome, steps: Step[], context: StepContext): Outcome {
  let current = outcome
  for (const step of steps) {
    if (!('keep' in current)) return current
    current = step(current.keep, context)
  }
  return current
}

export function enrich(draft: ClickDraft, context: StepContext): ClickEvent {
  const outcome = run({ keep: draft }, enrichmentSteps, context)
  if ('keep' in outcome) return outcome.keep.event
  throw new Error('An enrichment step dropped a click')
}

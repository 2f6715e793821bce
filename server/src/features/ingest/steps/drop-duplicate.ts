import type { ClickDraft, Outcome, StepContext } from './step.ts'

/** Drops the second click of the same visitor on the same link within the hour: both have one id. */
export function dropDuplicate(draft: ClickDraft, context: StepContext): Outcome {
  return context.isRepeat(draft) ? { drop: 'duplicate' } : { keep: draft }
}

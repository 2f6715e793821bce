import type { ClickDraft, Outcome, StepContext } from './step.ts'

/** Drops a visitor's second click on the same link within the hour: both have the same id. */
export function dropDuplicate(draft: ClickDraft, context: StepContext): Outcome {
  return context.isRepeat(draft) ? { drop: 'duplicate' } : { keep: draft }
}

import type { StepContext } from '../src/features/ingest/steps/step.ts'
import { parseClickKeys } from '../src/platform/click-id.ts'

/** What a step gets besides the click, where nothing is known but what is given. */
export function stepContext(given: Partial<StepContext> = {}): StepContext {
  return {
    clickKeys: parseClickKeys(`1:${'11'.repeat(32)}`),
    isRepeat: () => false,
    placeOf: () => undefined,
    isDataCentre: () => false,
    arePlacesRough: false,
    ipStorageOf: () => 'full',
    ...given,
  }
}

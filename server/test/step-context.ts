import { clickKeys } from '../src/features/click-ids/service.ts'
import type { StepContext } from '../src/features/ingest/steps/step.ts'
import { parseKeys } from '../src/platform/seal.ts'

/** Builds the context of an ingest step with only the given facts. */
export function stepContext(given: Partial<StepContext> = {}): StepContext {
  return {
    clickKeys: clickKeys({ CLICK_ID_KEYS: parseKeys(`1:${'11'.repeat(32)}`) }),
    isRepeat: () => false,
    locate: () => undefined,
    isDataCentre: () => false,
    isGeoCountryOnly: false,
    findIpStorage: () => 'full',
    ...given,
  }
}

import { expect, test } from 'vitest'
import { stepContext } from '../../../../test/step-context.ts'
import type { RawClick } from '../../redirect/messages.ts'
import { dropDuplicate } from './drop-duplicate.ts'
import { type ClickDraft, draftOf } from './step.ts'

test('drops what is a repeat and keeps the rest as it is', () => {
  const fresh = draftOf({ id: 'same' } as RawClick)
  const repeat = draftOf({ id: 'same' } as RawClick)
  const context = stepContext({ isRepeat: (draft: ClickDraft) => draft === repeat })
  expect(dropDuplicate(fresh, context)).toEqual({ keep: fresh })
  expect(dropDuplicate(repeat, context)).toEqual({ drop: 'duplicate' })
})

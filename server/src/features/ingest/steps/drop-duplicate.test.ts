import { expect, test } from 'vitest'
import { stepContext } from '../../../../test/step-context.ts'
import type { RawClick } from '../../redirect/messages.ts'
import { dropDuplicate } from './drop-duplicate.ts'
import { type ClickDraft, startDraft } from './step.ts'

test('dropDuplicate drops a repeated click and keeps all other clicks unchanged', () => {
  const fresh = startDraft({ id: 'same' } as RawClick)
  const repeat = startDraft({ id: 'same' } as RawClick)
  const context = stepContext({ isRepeat: (draft: ClickDraft) => draft === repeat })
  expect(dropDuplicate(fresh, context)).toEqual({ keep: fresh })
  expect(dropDuplicate(repeat, context)).toEqual({ drop: 'duplicate' })
})

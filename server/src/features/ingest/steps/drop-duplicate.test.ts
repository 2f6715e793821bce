import { expect, test } from 'vitest'
import { parseClickKeys } from '../../../platform/click-id.ts'
import type { RawClick } from '../../redirect/messages.ts'
import { dropDuplicate } from './drop-duplicate.ts'
import { type ClickDraft, draftOf } from './step.ts'

test('drops what is a repeat and keeps the rest as it is', () => {
  const fresh = draftOf({ id: 'same' } as RawClick)
  const repeat = draftOf({ id: 'same' } as RawClick)
  const context = {
    clickKeys: parseClickKeys(`1:${'11'.repeat(32)}`),
    isRepeat: (draft: ClickDraft) => draft === repeat,
  }
  expect(dropDuplicate(fresh, context)).toEqual({ keep: fresh })
  expect(dropDuplicate(repeat, context)).toEqual({ drop: 'duplicate' })
})

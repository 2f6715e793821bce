import { expect, test } from 'vitest'
import { stepContext } from '../../../../test/step-context.ts'
import { parseKeys } from '../../../platform/seal.ts'
import { clickKeys as deriveKeys, mintClickId } from '../../click-ids/service.ts'
import type { RawClick } from '../../redirect/messages.ts'
import { startDraft } from './step.ts'
import { verify } from './verify.ts'

const clickKeys = deriveKeys({ CLICK_ID_KEYS: parseKeys(`2:${'22'.repeat(32)},1:${'11'.repeat(32)}`) })
const at = Date.UTC(2025, 5, 18, 15, 30)
const hourMs = 3_600_000
const largest = 2n ** 64n - 1n

function minted(linkNumber: bigint, keys = clickKeys): string {
  return mintClickId(keys, { linkNumber, ip: '203.0.113.9', userAgent: 'agent', at })
}

test.each<[string, Partial<RawClick>]>([
  ['our own id', { id: minted(42n), linkNumber: '42' }],
  ['the smallest number', { id: minted(0n), linkNumber: '0' }],
  ['the largest number', { id: minted(largest), linkNumber: `${largest}` }],
  [
    'an id of an older key',
    { id: minted(42n, deriveKeys({ CLICK_ID_KEYS: parseKeys(`1:${'11'.repeat(32)}`) })), linkNumber: '42' },
  ],
  ['a time in the hour before', { id: minted(42n), linkNumber: '42', at: at - hourMs }],
  ['a time in the hour after', { id: minted(42n), linkNumber: '42', at: at + hourMs }],
])('%s is kept unchanged', (_name, raw) => {
  const draft = startDraft({ at, ...raw } as RawClick)
  expect(verify(draft, stepContext({ clickKeys }))).toEqual({ keep: draft })
})

test.each<[string, Partial<RawClick>, string]>([
  ['another link', { id: minted(42n), linkNumber: '43' }, 'forged_click_id'],
  ['a number beyond 64 bits', { id: minted(0n), linkNumber: `${2n ** 64n}` }, 'forged_click_id'],
  [
    'another secret',
    { id: minted(42n, deriveKeys({ CLICK_ID_KEYS: parseKeys(`1:${'33'.repeat(32)}`) })), linkNumber: '42' },
    'forged_click_id',
  ],
  [
    'an unknown key',
    { id: minted(42n, deriveKeys({ CLICK_ID_KEYS: parseKeys(`3:${'11'.repeat(32)}`) })), linkNumber: '42' },
    'forged_click_id',
  ],
  ['no id', { id: '', linkNumber: '42' }, 'forged_click_id'],
  ['a time two hours before', { id: minted(42n), linkNumber: '42', at: at - 2 * hourMs }, 'forged_click_id'],
  ['a time two hours after', { id: minted(42n), linkNumber: '42', at: at + 2 * hourMs }, 'forged_click_id'],
  ['a time before 1970', { id: minted(42n), linkNumber: '42', at: -1 }, 'malformed'],
  ['a time later than any event', { id: minted(42n), linkNumber: '42', at: 1e15 }, 'malformed'],
  ['no time', { id: minted(42n), linkNumber: '42', at: Number.NaN }, 'malformed'],
  ['a number with a leading zero', { id: minted(42n), linkNumber: '042' }, 'malformed'],
  ['a negative number', { id: minted(42n), linkNumber: '-42' }, 'malformed'],
  ['no number', { id: minted(42n), linkNumber: '' }, 'malformed'],
])('%s is rejected', (_name, raw, reason) => {
  const draft = startDraft({ at, ...raw } as RawClick)
  expect(verify(draft, stepContext({ clickKeys }))).toEqual({ reject: reason })
})

import { expect, test } from 'vitest'
import { parseKeys } from '../../platform/seal.ts'
import { type ListPosition, readCursor, writeCursor } from './cursor.ts'

const sealing = (workspaceId = 'ws_1', keys = `1:${'ab'.repeat(32)}`) => ({
  config: { ENCRYPTION_KEYS: parseKeys(keys) },
  workspaceId,
})
const position: ListPosition = { kind: 'sales', ascending: true, from: 5, at: 1_700_000_000_123, id: 'evt_ü' }
const read = (text: string, by = sealing()) => readCursor(by, 'list', text, 'x')

test('a cursor is read back unchanged, and its text reveals nothing', () => {
  const text = writeCursor(sealing(), 'list', position)
  expect(read(text)).toEqual(position)
  expect(text).toMatch(/^[\w-]+$/)
  expect(Buffer.from(text, 'base64url').toString()).not.toContain('sales')
})

test('a cursor is readable after a key rotation, as long as the old key is configured', () => {
  const text = writeCursor(sealing(), 'list', position)
  expect(read(text, sealing('ws_1', `2:${'cd'.repeat(32)},1:${'ab'.repeat(32)}`))).toEqual(position)
  expect(() => read(text, sealing('ws_1', `2:${'cd'.repeat(32)}`))).toThrow(/^x does not come from this list/)
})

test('a cursor is refused in another workspace, for another use, or when changed', () => {
  const text = writeCursor(sealing(), 'list', position)
  expect(() => read(text, sealing('ws_2'))).toThrow(/this list or workspace/)
  expect(() => readCursor(sealing(), 'stream', text, 'x')).toThrow(/this stream or workspace/)
  for (let index = 0; index < text.length; index++) {
    const changed = text.slice(0, index) + (text[index] === 'A' ? 'B' : 'A') + text.slice(index + 1)
    if (Buffer.from(changed, 'base64url').equals(Buffer.from(text, 'base64url'))) continue
    expect(() => read(changed)).toThrow()
  }
  for (const other of ['', 'x', '0', '=', 'ü', text.slice(1), `${text}AA`, 'A'.repeat(1000)])
    expect(() => read(other)).toThrow(/Pass the cursor back unchanged/)
})

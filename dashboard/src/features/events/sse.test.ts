import { expect, test } from 'vitest'
import { openStreamParser, type StreamMessage } from './sse.ts'

const text = [
  '\uFEFFretry: 2000\nid: start\n\n',
  'id: one\nevent: click\ndata: {"n":1}\n\n',
  ': a comment\n\n',
  'id: two\r\ndata: first\r\ndata:second\r\n\r\n',
  'data\rdata: \u{1F469}\u200D\u{1F467} ü\r\r',
  'id: bad\0id\ndata: x\n\n',
  'id: idle\n: still here\n\n',
  'data: unfinished',
].join('')

const expected: StreamMessage[] = [
  { id: 'start', data: undefined },
  { id: 'one', data: '{"n":1}' },
  { id: 'two', data: 'first\nsecond' },
  { id: 'two', data: '\n\u{1F469}\u200D\u{1F467} ü' },
  { id: 'two', data: 'x' },
  { id: 'idle', data: undefined },
]

test('messages are read whole, with the id that is in force', () => {
  expect(openStreamParser()(text)).toEqual(expected)
})

test('pieces cut anywhere give the same messages', () => {
  for (let size = 1; size <= 40; size += 1) {
    const parse = openStreamParser()
    const found: StreamMessage[] = []
    for (let start = 0; start < text.length; start += size) found.push(...parse(text.slice(start, start + size)))
    expect(found, `pieces of ${size}`).toEqual(expected)
  }
})

test('a message without end is refused instead of filling the memory', () => {
  for (const end of ['', '\n']) {
    const parse = openStreamParser()
    const piece = `data: ${'x'.repeat(1_000_000)}${end}`
    expect(() => {
      for (let count = 0; count < 20; count += 1) parse(piece)
    }).toThrow('too long')
  }
})

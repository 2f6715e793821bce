import { expect, test } from 'vitest'
import { readStep } from './passkeys.ts'

test('the library gets the response and a short name, and nothing that would start a session', () => {
  const body = { response: { id: 'a', type: 'public-key' }, name: 'x'.repeat(300), createSession: true }
  expect(JSON.parse(readStep(JSON.stringify(body)))).toEqual({ response: body.response, name: 'x'.repeat(100) })
  expect(() => readStep('{"name": "x"}')).toThrow('`response` in the body is required.')
})

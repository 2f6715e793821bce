import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseKeys, seal, unseal } from './seal.ts'

const hexA = 'a1'.repeat(32)
const hexB = 'b2'.repeat(32)
const keys = parseKeys(`2:${'ab'.repeat(32)},1:${'cd'.repeat(32)}`)

test('decrypts an encrypted text, also after a key rotation', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, purpose) => {
      const sealed = seal(keys, purpose, text)
      const later = parseKeys(`3:${'ef'.repeat(32)},2:${'ab'.repeat(32)}`)
      expect(unseal(later, purpose, sealed)).toBe(Buffer.from(text).toString())
    }),
  )
})

test('hides the text, and encrypts the same text differently each time', () => {
  const sealed = seal(keys, 'link_1', 'open sesame')
  expect(sealed.toString('latin1')).not.toContain('sesame')
  expect(seal(keys, 'link_1', 'open sesame')).not.toEqual(sealed)
})

test('rejects a ciphertext that was changed, has another purpose, or has an unknown key', () => {
  const sealed = seal(keys, 'link_1', 'open sesame')
  expect(() => unseal(keys, 'link_2', sealed)).toThrow()
  for (let index = 1; index < sealed.length; index++) {
    const changed = Buffer.from(sealed)
    changed[index] = (changed[index] ?? 0) ^ 1
    expect(() => unseal(keys, 'link_1', changed), String(index)).toThrow()
  }
  expect(() => unseal(parseKeys(`9:${'ab'.repeat(32)}`), 'link_1', sealed)).toThrow('ENCRYPTION_KEYS')
})

test('the first key is current, case and spaces do not matter', () => {
  const read = parseKeys(` 15:${hexA.toUpperCase()} , 0:${hexB} `)
  expect(read.current).toBe(15)
  expect([...read.secrets.keys()]).toEqual([15, 0])
})

test.each([
  ['', 'key 1 of 1 is malformed'],
  [`1:${hexA},`, 'key 2 of 2 is malformed'],
  [hexA, 'key 1 of 1 is malformed'],
  [`1:${hexA.slice(2)}`, 'key 1 of 1 is malformed'],
  [`1:${hexA}00`, 'key 1 of 1 is malformed'],
  [`1:${'g'.repeat(64)}`, 'key 1 of 1 is malformed'],
  [`-1:${hexA}`, 'key 1 of 1 is malformed'],
  [`16:${hexA}`, 'key 1 of 1 has id 16: use an id from 0 to 15'],
  [`16:${hexA},256:${hexB}`, 'key 1 of 2 has id 16'],
  [`1:${hexA},01:${hexB}`, 'key 2 of 2 repeats id 1'],
])('the keys %s are refused', (text, message) => {
  expect(() => parseKeys(text, 15)).toThrow(message)
})

test('an error message never contains a secret', () => {
  expect(() => parseKeys(`99:${hexA}`, 15)).not.toThrow(hexA)
})

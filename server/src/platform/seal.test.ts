import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseSealKeys, seal, unseal } from './seal.ts'

const keys = parseSealKeys(`2:${'ab'.repeat(32)},1:${'cd'.repeat(32)}`)

test('opens what it sealed, also after a new key was put in front', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, purpose) => {
      const sealed = seal(keys, purpose, text)
      const later = parseSealKeys(`3:${'ef'.repeat(32)},2:${'ab'.repeat(32)}`)
      expect(unseal(later, purpose, sealed)).toBe(Buffer.from(text).toString())
    }),
  )
})

test('does not show the text, and seals the same text differently each time', () => {
  const sealed = seal(keys, 'link_1', 'open sesame')
  expect(sealed.toString('latin1')).not.toContain('sesame')
  expect(seal(keys, 'link_1', 'open sesame')).not.toEqual(sealed)
})

test('refuses what was changed, moved to another purpose, or sealed with an unknown key', () => {
  const sealed = seal(keys, 'link_1', 'open sesame')
  expect(() => unseal(keys, 'link_2', sealed)).toThrow()
  for (let index = 1; index < sealed.length; index++) {
    const changed = Buffer.from(sealed)
    changed[index] = (changed[index] ?? 0) ^ 1
    expect(() => unseal(keys, 'link_1', changed), String(index)).toThrow()
  }
  expect(() => unseal(parseSealKeys(`9:${'ab'.repeat(32)}`), 'link_1', sealed)).toThrow('ENCRYPTION_KEYS')
})

test.each(['', '1:12', `1:${'zz'.repeat(32)}`, `300:${'ab'.repeat(32)}`, `1:${'ab'.repeat(32)},1:${'cd'.repeat(32)}`])(
  'refuses the keys %s',
  (text) => expect(() => parseSealKeys(text)).toThrow(),
)

import type { QrDesign } from '@tributary/contract/qr-designs'
import { expect, test } from 'vitest'
import { applyFix, clampSize, drawingUrl, fileName, parseHex } from './drawing.ts'

const design: QrDesign = {
  ...{ shape: 'dots', markerShape: 'circle', fgColor: '#102030', bgColor: '#ffffff', markerColor: null },
  ...{ level: 'L', margin: 2, logo: null, label: 'A & B' },
}

test('the address of a drawing has the design, without what is not set', () => {
  expect(drawingUrl('https://go.acme.com/a?b', design, { format: 'png', size: 500 })).toBe(
    '/qr?url=https%3A%2F%2Fgo.acme.com%2Fa%3Fb&shape=dots&markerShape=circle&fgColor=%23102030&bgColor=%23ffffff&level=L&margin=2&label=A+%26+B&format=png&size=500',
  )
  expect(drawingUrl('x', undefined, { format: 'svg' })).toBe('/qr?url=x&format=svg')
})

test.each([
  ['go.acme.com/autumn', 'go-acme-com-autumn.png'],
  ['go.acme.com/../etc/ü', 'go-acme-com-etc-ü.png'],
  ['///', 'qr-code.png'],
  ['x'.repeat(300), `${'x'.repeat(80)}.png`],
])('the file of %s is %s', (name, file) => {
  expect(fileName(name, 'png')).toBe(file)
})

test.each([
  [10, 32],
  [700.4, 700],
  [9_000, 2_000],
  [Number.NaN, 1_000],
])('a size of %d becomes %d', (size, drawn) => {
  expect(clampSize(size)).toBe(drawn)
})

test.each([
  ['#ABC', '#aabbcc'],
  [' 0b3c49 ', '#0b3c49'],
  ['#12', undefined],
  ['red', undefined],
])('%s is the colour %s', (text, color) => {
  expect(parseHex(text)).toBe(color)
})

test('a fix changes only what it names', () => {
  expect(applyFix(design, 'shape')).toEqual({ ...design, shape: 'square', markerShape: 'square' })
  expect(applyFix(design, 'label')).toEqual({ ...design, label: null })
})

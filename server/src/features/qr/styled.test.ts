import { randomUUID } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { getQRCode } from '@tributary/contract/qr'
import { PNG } from 'pngjs'
import { describe, expect, test } from 'vitest'
import { discFile, scan } from '../../../test/scan.ts'
import type { Config } from '../../platform/config.ts'
import { type Format, openQrCodes } from './service.ts'

const codes = openQrCodes({
  OUTBOUND_ALLOWED_PORTS: [],
  OUTBOUND_ALLOWED_HOSTS: { names: [], ranges: [] },
} as unknown as Config)
const url = 'https://links.example.com/spring'
const logo = `data:image/png;base64,${discFile().toString('base64')}`

const parse = (given: Record<string, string>) => getQRCode.query.parse({ url, ...given })
const draw = async (given: Record<string, string>, format: Format = 'png') =>
  (await codes.draw(parse(given), format, randomUUID())).bytes
const scans = async (given: Record<string, string>) => (await codes.scan([parse(given)], randomUUID()))[0]

const looks = ['square', 'rounded', 'dots'].flatMap((shape) =>
  ['square', 'rounded', 'circle'].map((markerShape) => ({ shape, markerShape })),
)

describe('an independent decoder reads', () => {
  test.each(looks)('%j', async (look) => {
    for (const size of ['150', '299', '600']) expect(scan(await draw({ ...look, size })), size).toBe(url)
    expect(await scans(look)).toBe(true)
  })

  test.each<[string, Record<string, string>]>([
    ['colours of code and markers', { fgColor: '205080', bgColor: 'fff8e0', markerColor: '802040', shape: 'rounded' }],
    ['a logo', { logo, shape: 'dots', markerShape: 'circle', size: '800' }],
    ['a label', { label: 'Scan me!', margin: '4' }],
    ['a label and a logo', { label: 'Größe 2 €', logo, shape: 'rounded', size: '700', margin: '4' }],
    ['much text', { url: 'z'.repeat(500), shape: 'rounded', size: '1500' }],
  ])('%s', async (_, given) => {
    expect(scan(await draw(given))).toBe(given.url ?? url)
    expect(await scans(given)).toBe(true)
  })
})

test('a picture that a decoder can not read does not scan', async () => {
  expect(await scans({ margin: '0', label: 'No quiet zone', shape: 'dots', url: 'z'.repeat(200) })).toBe(false)
})

test('a label makes the picture 18 % higher, in every format', async () => {
  const { width, height } = PNG.sync.read(await draw({ label: 'Hello', size: '500' }))
  expect([width, height]).toEqual([500, 590])
  expect((await draw({ label: 'Hello', size: '500' }, 'svg')).toString()).toContain('width="500" height="590"')
  expect((await draw({ label: 'Hello', size: '500' }, 'pdf')).toString('latin1')).toContain('/MediaBox [0 0 500 590]')
})

test('a styled SVG has no scripts, styles or foreign content', async () => {
  const svg = (
    await draw({ shape: 'rounded', markerShape: 'circle', label: '<A>'.slice(1, 2), logo }, 'svg')
  ).toString()
  expect(new Set(svg.match(/<\w+/g))).toEqual(new Set(['<svg', '<rect', '<path', '<image']))
})

describe('PDF', () => {
  test.each<[string, Record<string, string>]>([
    ['plain', {}],
    ['styled', { shape: 'dots', markerShape: 'circle', label: 'Scan', markerColor: 'a00' }],
    ['with a logo', { logo }],
  ])('%s: the table of objects is right and the content draws the code', async (_, given) => {
    const pdf = await draw(given, 'pdf')
    const text = pdf.toString('latin1')
    const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)?.[1])
    expect(text.slice(start, start + 5)).toBe('xref\n')
    const offsets = [...text.slice(start).matchAll(/(\d{10}) 00000 n /g)].map((match) => Number(match[1]))
    expect(offsets).toHaveLength(given.logo ? 6 : 4)
    offsets.forEach((offset, index) => {
      expect(text.slice(offset, offset + 7)).toBe(`${index + 1} 0 obj`)
    })
    const [, length = '', head = ''] = /(?:Length )(\d+)( >>\nstream\n)/.exec(text.slice(offsets[3])) ?? []
    const from = text.indexOf(head, offsets[3]) + head.length
    const content = inflateSync(pdf.subarray(from, from + Number(length))).toString()
    expect(content).toMatch(/ cm\n1 1 1 rg\n0 0 [\d.]+ [\d.]+ re\nf\n0 0 0 rg\n/)
    expect(content.includes('/Logo Do')).toBe(given.logo !== undefined)
  })
})

test.each<[Record<string, string>, RegExp]>([
  [{ label: '日本' }, /`label` in the query has the character "日", which can't be drawn/],
  [{ label: 'x'.repeat(31) }, /`label` in the query has 31 characters, but at most 30 fit/],
  [{ label: 'x'.repeat(30), size: '100' }, /`size` in the query must be larger for a label of 30 characters/],
  [{ markerColor: 'fff' }, /`markerColor` and `bgColor` in the query are too alike/],
])('422: %j', async (given, message) => {
  await expect(draw(given)).rejects.toMatchObject({
    code: 'unprocessable_entity',
    message: expect.stringMatching(message),
  })
})

import { randomUUID } from 'node:crypto'
import { getQRCode } from '@tributary/contract/qr'
import { PNG } from 'pngjs'
import { expect, test } from 'vitest'
import { discFile, drawDisc, scan } from '../../../test/scan.ts'
import type { Config } from '../../platform/config.ts'
import { openQrCodes } from './service.ts'

const codes = openQrCodes({
  OUTBOUND_ALLOWED_PORTS: [],
  OUTBOUND_ALLOWED_HOSTS: { names: [], ranges: [] },
} as unknown as Config)
const logo = `data:image/png;base64,${discFile().toString('base64')}`

async function draw(given: Record<string, string>): Promise<string> {
  const query = getQRCode.query.parse({ url: 'https://links.example.com/spring', ...given })
  return (await codes.draw(query, 'svg', randomUUID())).bytes.toString()
}

test.each([
  ['the standard', {}],
  ['no margin', { margin: '0' }],
  ['level H', { level: 'H' }],
  ['Unicode', { url: 'https://例え.テスト/🎉' }],
  ['much', { url: 'z'.repeat(1_000) }],
  ['smaller than a bitmap could be', { url: 'z'.repeat(1_000), size: '32' }],
  ['a logo', { logo }],
])('%s: the SVG scans when it is rasterized', async (_, query) => {
  expect(scan(rasterized(await draw(query)))).toBe('url' in query ? query.url : 'https://links.example.com/spring')
})

test('the SVG has one path on its background, in the requested size', async () => {
  const svg = await draw({ size: '321', fgColor: 'A00', bgColor: '#ffeecc', margin: '3' })
  const start =
    '<svg xmlns="http://www.w3.org/2000/svg" width="321" height="321" viewBox="0 0 31 31" role="img" aria-label="QR code"><rect width="31" height="31" fill="#ffeecc"/><path fill="#aa0000" shape-rendering="crispEdges" d="M3 3h7v1h-7z'
  expect(svg.slice(0, start.length)).toBe(start)
  expect(svg.match(/<\w+/g)).toEqual(['<svg', '<rect', '<path'])
  expect(svg.endsWith('z"/></svg>\n')).toBe(true)
})

test('a logo is re-encoded and embedded in the middle of the SVG', async () => {
  const svg = await draw({ logo })
  const [, x, y, width, height, data = ''] =
    /<image x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" href="data:image\/png;base64,([^"]+)"\/>/.exec(
      svg,
    ) ?? []
  const whole = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1])
  expect([Number(x) * 2 + Number(width), Number(y) * 2 + Number(height)]).toEqual([whole, whole])
  expect(PNG.sync.read(Buffer.from(data, 'base64')).data.equals(drawDisc().data)).toBe(true)
})

/** Rasterizes the SVG path as a browser would: five pixels for a unit, black on white. */
function rasterized(svg: string): Buffer {
  const whole = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1])
  const picture = new PNG({ width: whole * 5, height: whole * 5 })
  picture.data.fill(255)
  for (const [, x, y, length, back] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1h-(\d+)z/g)) {
    expect(back).toBe(length)
    for (let line = Number(y) * 5; line < Number(y) * 5 + 5; line++) {
      for (let at = Number(x) * 5; at < (Number(x) + Number(length)) * 5; at++) {
        picture.data.set([0, 0, 0], (line * whole * 5 + at) * 4)
      }
    }
  }
  return PNG.sync.write(picture)
}

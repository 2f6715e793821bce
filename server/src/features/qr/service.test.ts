import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getQRCode, type QrQuery } from '@tributary/contract/qr'
import fc from 'fast-check'
import { encode as encodeJpeg } from 'jpeg-js'
import { PNG } from 'pngjs'
import { afterAll, describe, expect, test } from 'vitest'
import { discFile, drawDisc, scan } from '../../../test/scan.ts'
import type { Config } from '../../platform/config.ts'
import { encodeText } from './code.ts'
import { openQrCodes } from './service.ts'

const png = discFile()
const jpeg = encodeJpeg({ width: 200, height: 200, data: drawDisc(200).data }, 80).data
const inline = (type: string, bytes: Buffer) => `data:image/${type};base64,${bytes.toString('base64')}`
const short = 'https://links.example.com/spring?qr=1'

let fetched: string[] = []
const files = createServer((request, response) => {
  fetched.push(request.url ?? '')
  const answers: Record<string, () => void> = {
    '/logo.png': () => response.end(png),
    '/logo.jpg': () => response.writeHead(200, { 'content-type': 'text/plain' }).end(jpeg),
    '/page': () => response.end('<!doctype html>'),
    '/large': () => response.end(Buffer.alloc(1_048_577)),
    '/busy': () => response.end(manyScans()),
    '/moved': () => response.writeHead(302, { location: '/logo.png' }).end(),
  }
  ;(answers[(request.url ?? '').replace(/\?.*/, '')] ?? (() => response.writeHead(404).end()))()
})
await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve))
afterAll(() => void files.close())
const { port } = files.address() as AddressInfo
const address = `http://127.0.0.1:${port}`

const allow = { OUTBOUND_ALLOWED_PORTS: [[port, port]], OUTBOUND_ALLOWED_HOSTS: { names: [], ranges: ['127.0.0.1'] } }
const codes = openQrCodes(allow as unknown as Config)
const closed = openQrCodes({ ...allow, OUTBOUND_ALLOWED_HOSTS: { names: [], ranges: [] } } as unknown as Config)

function draw(query: Partial<QrQuery>, among = codes) {
  return among
    .draw({ ...getQRCode.query.parse({ url: short }), ...query }, 'png', randomUUID())
    .then(({ bytes }) => bytes)
}

describe('an independent decoder reads', () => {
  const long = `https://example.com/${'path/'.repeat(60)}`
  test.each<[string, Partial<QrQuery>]>([
    ['the standard', {}],
    ['the smallest', { size: 80, url: 'https://a.bc' }],
    ['100 pixels', { size: 100 }],
    ['299 pixels', { size: 299 }],
    ['the largest', { size: 2_000 }],
    ['level M', { level: 'M' }],
    ['level Q', { level: 'Q' }],
    ['level H', { level: 'H' }],
    ['no margin', { margin: 0 }],
    ['includeMargin false', { includeMargin: false }],
    ['a wide margin', { margin: 20 }],
    ['blue on cream', { fgColor: '#123456', bgColor: 'FFFBE6' }],
    ['orange', { fgColor: 'f80' }],
    ['light on dark', { fgColor: '#fff', bgColor: '#102030' }],
    ['a long URL', { url: long }],
    ['a long URL, level H', { url: long, level: 'H', size: 1_000 }],
    ['2,000 characters', { url: `https://example.com/${'x'.repeat(1_980)}`, size: 1_200 }],
    ['the longest URL that fits', { url: 'y'.repeat(2_953), size: 1_500 }],
    ['Unicode', { url: 'https://例え.テスト/ÄÖÜ/🎉?q=ñ' }],
    ['digits', { url: '0123456789'.repeat(5) }],
    ['capitals', { url: 'HTTPS://EXAMPLE.COM/A$B%C*D+E' }],
    ['one letter', { url: 'x' }],
    ['a PNG logo', { logo: inline('png', png) }],
    ['a JPEG logo', { logo: inline('jpeg', jpeg) }],
    ['a logo with a wrong type', { logo: inline('png', jpeg) }],
    ['a logo with spaces for +', { logo: inline('png', png).replaceAll('+', ' ') }],
    ['a logo without margin', { logo: inline('png', png), margin: 0, size: 200 }],
    ['a logo, coloured', { logo: inline('png', png), fgColor: '#063', bgColor: '#ffc' }],
    ['a logo and a long URL', { logo: inline('png', png), url: long, size: 900 }],
    ['a logo and a short URL', { logo: inline('png', png), url: 'https://a.bc' }],
    ['a wide logo', { logo: inline('png', discFile(400, 100)) }],
    ['a fetched PNG', { logo: `${address}/logo.png` }],
    ['a fetched JPEG', { logo: `${address}/logo.jpg` }],
  ])('%s', async (_, query) => {
    const bytes = await draw(query)
    const { width, height } = PNG.sync.read(bytes)
    expect([width, height]).toEqual([query.size ?? 600, query.size ?? 600])
    expect(scan(bytes)).toBe(query.url ?? short)
  })

  test('any URL, size, margin and pair of dark and light colours', async () => {
    const color = (min: number, max: number) => {
      const channel = fc.integer({ min, max })
      return fc.tuple(channel, channel, channel).map((channels) => Buffer.from(channels).toString('hex'))
    }
    const query = fc.record({
      url: fc.webUrl({ withQueryParameters: true }).filter((url) => url.length < 150),
      size: fc.integer({ min: 180, max: 500 }),
      level: fc.constantFrom('L', 'M', 'Q', 'H'),
      margin: fc.integer({ min: 1, max: 4 }),
      fgColor: color(0, 80),
      bgColor: color(170, 255),
    })
    await fc.assert(
      fc.asyncProperty(query, async (query) => {
        expect(scan(await draw(query as Partial<QrQuery>))).toBe(query.url)
      }),
      { numRuns: 40 },
    )
  }, 60_000)
})

describe('a picture', () => {
  test.each([
    [2, 600],
    [4, 333],
    [0, 500],
    [7, 257],
  ])('has a quiet zone of %i modules or more on all sides (%i pixels)', async (margin, size) => {
    const { data } = PNG.sync.read(await draw({ margin, size, bgColor: 'ffeecc' }))
    const dark: [number, number][] = []
    for (let at = 0; at < size * size; at++) {
      const color = data.subarray(at * 4, at * 4 + 3).toString('hex')
      if (color !== 'ffeecc') dark.push([at % size, Math.floor(at / size)])
    }
    const scale = Math.floor(size / (encodeText(short, 'L', false).length + 2 * margin))
    const [least, most] = [margin * scale, size - margin * scale]
    expect(dark.filter(([x, y]) => x < least || y < least || x >= most || y >= most)).toEqual([])
    expect(dark.length).toBeGreaterThan(1_000)
  })

  test("has its logo in the middle, on the QR code's background", async () => {
    const { data } = PNG.sync.read(await draw({ logo: inline('png', png), bgColor: 'ffeecc' }))
    const pixel = (x: number, y: number) => data.subarray((y * 600 + x) * 4, (y * 600 + x) * 4 + 3).toString('hex')
    expect(pixel(300, 300)).toBe('ffdc00')
    expect(pixel(330, 280)).toBe('c81e3c')
    expect(pixel(258, 258)).toBe('ffeecc')
  })

  test('with a hidden logo equals one without a logo', async () => {
    const hidden = await draw({ logo: 'ftp://nonsense', hideLogo: true })
    expect(hidden.equals(await draw({}))).toBe(true)
  })
})

describe('a logo', () => {
  test('is fetched once for many QR codes', async () => {
    const some = openQrCodes(allow as unknown as Config)
    fetched = []
    await Promise.all([80, 90, 100, 110].map((size) => draw({ logo: `${address}/logo.png`, size }, some)))
    await draw({ logo: `${address}/logo.png`, url: 'https://example.com/another' }, some)
    expect(fetched).toEqual(['/logo.png'])
    await expect(draw({ logo: `${address}/gone` }, some)).rejects.toMatchObject({ code: 'unprocessable_entity' })
    await expect(draw({ logo: `${address}/gone` }, some)).rejects.toMatchObject({ code: 'unprocessable_entity' })
    expect(fetched).toEqual(['/logo.png', '/gone'])
  })

  const unreachable = 'could not be fetched: its host is not public, or did not respond properly within 5 s.'
  test.each([
    ['nonsense', 'must be an http(s) URL, or a data URL of a PNG or JPEG in base64.'],
    ['data:image/svg+xml;base64,PHN2Zz4=', 'must be an http(s) URL, or a data URL of a PNG or JPEG in base64.'],
    ['data:image/png,abc', 'must be an http(s) URL, or a data URL of a PNG or JPEG in base64.'],
    ['data:image/png;base64,aGVsbG8=', 'is neither PNG nor JPEG.'],
    ['file:///etc/passwd', 'must be an http(s) URL, or a data URL of a PNG or JPEG in base64.'],
    ['http://', 'is not a valid URL.'],
    ['http://user:pass@example.com/', 'must not contain a user name or password.'],
    ['http://example.com:22/', 'must use port 80 or 443.'],
    ['http://127.0.0.2/logo.png', unreachable],
    ['http://169.254.169.254/latest/meta-data', unreachable],
    ['http://[::1]/', unreachable],
    [`${address}/page`, 'is neither PNG nor JPEG.'],
    [`${address}/large`, 'is larger than the limit of 1048576 bytes.'],
    [`${address}/moved`, 'could not be fetched: its server responded with status 302 instead of 200.'],
    [`${address}/gone`, 'could not be fetched: its server responded with status 404 instead of 200.'],
    [inline('png', damaged(png)), "can't be decoded: it is damaged, or needs too much memory."],
  ])('%s is refused', async (logo, complaint) => {
    await expect(draw({ logo })).rejects.toMatchObject({
      code: 'unprocessable_entity',
      message: `\`logo\` in the query ${complaint}`,
    })
  })

  test('on this machine is not fetched unless the operator allows it', async () => {
    fetched = []
    await expect(draw({ logo: `${address}/logo.png` }, closed)).rejects.toThrow(unreachable)
    expect(fetched).toEqual([])
  })

  test('that takes too long to decode is aborted without blocking the server', async () => {
    const started = performance.now()
    let [last, longest] = [started, 0]
    const ticks = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 10)
    await expect(draw({ logo: `${address}/busy` })).rejects.toThrow('takes too long to decode')
    clearInterval(ticks)
    expect(performance.now() - started).toBeLessThan(12_000)
    expect(longest).toBeLessThan(3_000)
  }, 60_000)
})

function damaged(file: Buffer): Buffer {
  const bytes = Buffer.from(file)
  bytes.fill(0x55, 60, 400)
  return bytes
}

/** A progressive JPEG of 2,000 × 2,000 pixels with 50,000 empty scans of all blocks. */
function manyScans(): Buffer {
  const frame = [0xff, 0xc2, 0, 11, 8, 0x07, 0xd0, 0x07, 0xd0, 1, 1, 0x11, 0]
  const table = [0xff, 0xc4, 0, 20, 0x10, 1, ...Array<number>(15).fill(0), 0xe0]
  const scan = [0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0, ...Array<number>(8).fill(0)]
  return Buffer.concat([
    Buffer.from([0xff, 0xd8, ...frame, ...table]),
    Buffer.alloc(scan.length * 50_000, Buffer.from(scan)),
  ])
}

test('a visitor whose logos decode for seconds does not delay another visitor', async () => {
  const some = openQrCodes(allow as unknown as Config)
  const draw = (logo: string, visitor: string) =>
    some.draw({ ...getQRCode.query.parse({ url: short }), logo }, 'png', visitor)
  const hostile = Array.from({ length: 10 }, (_, index) =>
    draw(`${address}/busy?${index}`, 'hostile').catch((error: unknown) => error),
  )
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const started = performance.now()
  await draw(`${address}/logo.png`, 'honest')
  expect(performance.now() - started).toBeLessThan(12_000)
  expect(await hostile[0]).toMatchObject({ message: expect.stringContaining('takes too long to decode') })
}, 180_000)

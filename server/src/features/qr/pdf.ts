import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type { Color } from './color.ts'
import { layOutLabel } from './label.ts'
import type { Pixels } from './pixels.ts'
import type { RoundRect } from './shapes.ts'
import type { StyledDrawing } from './styled.ts'

// The length of the handles of a cubic curve that is closest to a quarter of a circle.
const handle = 0.5523

/** Draws a QR code as a PDF of one page, in vectors; `size` is its width in points. */
export async function drawPdf({
  parts,
  label,
  whole,
  size,
  colors,
  logo,
}: StyledDrawing): Promise<Buffer<ArrayBuffer>> {
  const layout = label === '' ? undefined : layOutLabel(label, whole)
  const height = whole + (layout?.barHeight ?? 0)
  const scale = size / whole
  const square = (x: number, y: number, width: number, height: number) => `${print(x, y, width, height)} re`
  const content = [
    // The origin of a PDF page is its bottom left corner.
    `${print(scale, 0, 0, -scale, 0, height * scale)} cm`,
    fill(colors.background, [square(0, 0, whole, height)]),
    fill(colors.foreground, parts.modules.map(roundRectPath)),
    fill(colors.marker, parts.rings.map(roundRectPath)),
    fill(colors.background, parts.holes.map(roundRectPath)),
    fill(colors.marker, parts.middles.map(roundRectPath)),
    ...(layout ? [fill(colors.foreground, [square(0, whole, whole, layout.barHeight)])] : []),
    ...(layout
      ? [
          fill(
            colors.background,
            layout.cells.map(({ column, row }) =>
              square(
                layout.left + column * layout.cell,
                whole + layout.top + row * layout.cell,
                layout.cell,
                layout.cell,
              ),
            ),
          ),
        ]
      : []),
    ...(logo
      ? [
          `q ${print(logo.box.width, 0, 0, -logo.box.height, logo.box.left, logo.box.top + logo.box.height)} cm /Logo Do Q`,
        ]
      : []),
  ].join('\n')
  const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${print(size, height * scale)}] /Contents 4 0 R /Resources << ${logo ? '/XObject << /Logo 5 0 R >>' : ''} >> >>`
  return writeFile([
    Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'),
    Buffer.from('<< /Type /Pages /Kids [3 0 R] /Count 1 >>'),
    Buffer.from(page),
    await stream('', Buffer.from(content)),
    ...(logo ? await imageObjects(logo.pixels) : []),
  ])
}

/** The logo's colours, and its alpha channel as a mask: objects 5 and 6. */
async function imageObjects({ width, height, data }: Pixels): Promise<Buffer[]> {
  const [colors, alpha] = [Buffer.alloc(width * height * 3), Buffer.alloc(width * height)]
  for (let at = 0; at < alpha.length; at++) {
    colors.set(data.subarray(at * 4, at * 4 + 3), at * 3)
    alpha[at] = data[at * 4 + 3] as number
  }
  const image = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 8`
  return [
    await stream(`${image} /ColorSpace /DeviceRGB /SMask 6 0 R`, colors),
    await stream(`${image} /ColorSpace /DeviceGray`, alpha),
  ]
}

function fill({ red, green, blue }: Color, paths: string[]): string {
  return `${print(red / 255, green / 255, blue / 255)} rg\n${paths.join('\n')}\nf`
}

function roundRectPath({ x, y, width, height, radii: [tl, tr, br, bl] }: RoundRect): string {
  const [right, bottom] = [x + width, y + height]
  if (tl + tr + br + bl === 0) return `${print(x, y, width, height)} re`
  const near = (radius: number) => radius * (1 - handle)
  return [
    `${print(x + tl, y)} m`,
    `${print(right - tr, y)} l`,
    `${print(right - near(tr), y, right, y + near(tr), right, y + tr)} c`,
    `${print(right, bottom - br)} l`,
    `${print(right, bottom - near(br), right - near(br), bottom, right - br, bottom)} c`,
    `${print(x + bl, bottom)} l`,
    `${print(x + near(bl), bottom, x, bottom - near(bl), x, bottom - bl)} c`,
    `${print(x, y + tl)} l`,
    `${print(x, y + near(tl), x + near(tl), y, x + tl, y)} c h`,
  ].join(' ')
}

async function stream(dictionary: string, data: Buffer): Promise<Buffer> {
  const packed = await promisify(deflate)(data)
  const head = `<< ${dictionary} /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`
  return Buffer.concat([Buffer.from(head), packed, Buffer.from('\nendstream')])
}

/** Writes numbered objects and the table of their offsets. */
function writeFile(objects: Buffer[]): Buffer<ArrayBuffer> {
  const pieces = [Buffer.from('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n', 'latin1')]
  let length = pieces[0]?.length ?? 0
  const offsets = objects.map((object, index) => {
    const offset = length
    const piece = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')])
    pieces.push(piece)
    length += piece.length
    return `${String(offset).padStart(10, '0')} 00000 n \n`
  })
  const count = objects.length + 1
  const table = `xref\n0 ${count}\n0000000000 65535 f \n${offsets.join('')}trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`
  return Buffer.concat([...pieces, Buffer.from(table)])
}

function print(...numbers: number[]): string {
  return numbers.map((number) => Number(number.toFixed(3))).join(' ')
}

import { z } from 'zod'
import { booleanDefault } from './common.ts'
import type { PublicOperation } from './operation.ts'

export const qrLevels = ['L', 'M', 'Q', 'H'] as const
export const qrShapes = ['square', 'rounded', 'dots'] as const
export const qrMarkerShapes = ['square', 'rounded', 'circle'] as const

const color = z.string().regex(/^#?([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$/)

const qrQuery = z.object({
  url: z.string().min(1).max(32_000).describe('URL to encode. Up to 2,953 bytes fit at level `L`.'),
  logo: z
    .string()
    .max(100_000)
    .optional()
    .describe('Logo for the centre of the QR code, a PNG or JPEG: an http(s) URL, or a base64 data URL.'),
  size: z.coerce
    .number()
    .int()
    .min(32)
    .max(2_000)
    .default(600)
    .describe('Width and height of the image in pixels; in a PDF, in points.'),
  level: z
    .enum(qrLevels)
    .default('L')
    .describe('Error correction level: about 7, 15, 25 or 30 %. With a logo it is always `H`.'),
  fgColor: color.default('#000000').describe('Colour of the QR code: three or six hex digits, with or without `#`.'),
  bgColor: color.default('#FFFFFF').describe('Background colour, which must contrast with `fgColor`.'),
  shape: z.enum(qrShapes).default('square').describe('Shape of the modules.'),
  markerShape: z.enum(qrMarkerShapes).default('square').describe('Shape of the three markers in the corners.'),
  markerColor: color.optional().describe('Colour of the markers. Default: `fgColor`.'),
  label: z
    .string()
    .max(100)
    .optional()
    .describe('Text below the code, at most 30 characters, drawn in capitals. It adds 18 % to the height.'),
  hideLogo: booleanDefault(false).describe('Whether to leave out the logo.'),
  margin: z.coerce
    .number()
    .int()
    .min(0)
    .max(20)
    .default(2)
    .meta({ type: 'integer', description: 'Quiet zone around the QR code, in modules.' }),
  includeMargin: booleanDefault(true)
    .describe('Whether to add a quiet zone; `false` is the same as `margin=0`.')
    .meta({ deprecated: true }),
  format: z
    .enum(['png', 'svg', 'pdf'])
    .optional()
    .describe('Image format. Default: `png`, or `svg` if the client prefers `image/svg+xml`.'),
})
export type QrQuery = z.output<typeof qrQuery>

export const getQRCode = {
  kind: 'public',
  id: 'getQRCode',
  method: 'get',
  path: '/qr',
  summary: 'Retrieve a QR code',
  description: 'Returns the QR code of a URL as an image. Requires no key and is rate limited per visitor.',
  tag: 'QR codes',
  query: qrQuery,
  contents: ['image/png', 'image/svg+xml', 'application/pdf'],
  requestsPerMinute: 600,
} as const satisfies PublicOperation

import type { QrDesign, QrFix } from '@tributary/contract/qr-designs'

export const formats = ['png', 'svg', 'pdf'] as const
export type Format = (typeof formats)[number]

export const sizes = { least: 32, most: 2_000, usual: 1_000 } as const

/** The address of the server's drawing: what is previewed is what is downloaded. */
export function drawingUrl(
  url: string,
  design: QrDesign | undefined,
  { format, size }: { format: Format; size?: number },
): string {
  const query = new URLSearchParams({ url })
  for (const [name, value] of Object.entries(design ?? {})) if (value !== null) query.set(name, String(value))
  query.set('format', format)
  if (size) query.set('size', String(size))
  return `/qr?${query}`
}

/** A file name that every system accepts: go-acme-com-autumn.png. */
export function fileName(name: string, format: Format): string {
  const words = name
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 80)
  return `${words || 'qr-code'}.${format}`
}

/** A size that the server draws. */
export function clampSize(size: number): number {
  if (!Number.isFinite(size)) return sizes.usual
  return Math.round(Math.min(sizes.most, Math.max(sizes.least, size)))
}

const fixed: Record<QrFix, Partial<QrDesign>> = {
  margin: { margin: 4 },
  colors: { fgColor: '#000000', bgColor: '#ffffff', markerColor: null },
  shape: { shape: 'square', markerShape: 'square' },
  label: { label: null },
  logo: { logo: null },
}

/** The design with what the server found to make it readable. */
export function applyFix(design: QrDesign, fix: QrFix): QrDesign {
  return { ...design, ...fixed[fix] }
}

/** A colour as people type it, with six digits; undefined while it is none. */
export function parseHex(text: string): string | undefined {
  const [, digits] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text.trim()) ?? []
  if (!digits) return undefined
  return `#${digits.length === 3 ? digits.replace(/./g, '$&$&') : digits}`.toLowerCase()
}

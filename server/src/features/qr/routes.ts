import { getQRCode } from '@tributary/contract/qr'
import type { Config } from '../../platform/config.ts'
import { type OpenRoute, openRoute } from '../../platform/http.ts'
import { preferredFormat } from './accept.ts'
import { openQrCodes } from './service.ts'

const types = { png: 'image/png', svg: 'image/svg+xml' }

export function qrRoutes(config: Config): OpenRoute[] {
  const codes = openQrCodes(config)
  return [
    openRoute(getQRCode, async (query, header, network) => {
      const format = query.format ?? preferredFormat(header('accept'))
      const { bytes, hash } = await codes.draw(query, format, network)
      const headers = {
        ETag: `"${hash}"`,
        'Cache-Control': 'public, max-age=86400',
        Vary: 'Accept',
        // An SVG that is opened by itself is a page of this server.
        'Content-Security-Policy': "default-src 'none'; img-src data:",
        'X-Content-Type-Options': 'nosniff',
      }
      if (isKnown(header('if-none-match'), headers.ETag)) return { body: null, status: 304, headers }
      return { body: bytes, status: 200, headers: { ...headers, 'Content-Type': types[format] } }
    }),
  ]
}

function isKnown(tags: string, tag: string): boolean {
  return tags.split(',').some((known) => ['*', tag].includes(known.trim().replace(/^W\//, '')))
}

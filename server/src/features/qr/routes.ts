import { getQRCode } from '@tributary/contract/qr'
import { clientNetwork } from '../../platform/client-address.ts'
import type { Config } from '../../platform/config.ts'
import { type Bytes, type Route, route } from '../../platform/http.ts'
import { preferredFormat } from './accept.ts'
import { sharedQrCodes } from './service.ts'

const types = { png: 'image/png', svg: 'image/svg+xml', pdf: 'application/pdf' }

export function qrRoutes(config: Config): Route[] {
  const codes = sharedQrCodes(config)
  return [
    route(getQRCode, async ({ ip }, { query }, { header }): Promise<Bytes> => {
      const format = query.format ?? preferredFormat(header('accept'))
      const { bytes, hash } = await codes.draw(query, format, clientNetwork(ip))
      const headers = {
        ETag: `"${hash}"`,
        'Cache-Control': 'public, max-age=86400',
        Vary: 'Accept',
        // A browser treats an SVG that is opened directly as a page of this server, so scripts are forbidden.
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

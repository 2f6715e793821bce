import { getIcon } from '@tributary/contract/icons'
import { clientNetwork } from '../../platform/client-address.ts'
import type { Config } from '../../platform/config.ts'
import { type Bytes, type Route, route } from '../../platform/http.ts'
import { openIcons } from './service.ts'

export function iconsRoutes(config: Config): Route[] {
  const icons = openIcons(config)
  return [
    route(getIcon, async ({ ip }, { query }, { header }): Promise<Bytes> => {
      const { bytes, type, hash, maxAgeSeconds } = await icons.find(query.host, clientNetwork(ip))
      const headers = {
        ETag: `"${hash}"`,
        'Cache-Control': `public, max-age=${maxAgeSeconds}`,
        // The bytes come from a foreign site: a browser must never treat them as a page of this server.
        'Content-Security-Policy': "default-src 'none'; sandbox",
        'X-Content-Type-Options': 'nosniff',
        'Cross-Origin-Resource-Policy': 'same-origin',
      }
      if (header('if-none-match') === headers.ETag) return { body: null, status: 304, headers }
      return { body: bytes, status: 200, headers: { ...headers, 'Content-Type': type } }
    }),
  ]
}

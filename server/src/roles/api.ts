import { getRequestListener } from '@hono/node-server'
import { analyticsRoutes } from '../features/analytics/routes.ts'
import { docsPages } from '../features/docs/routes.ts'
import { domainsRoutes } from '../features/domains/routes.ts'
import { eventsRoutes } from '../features/events/routes.ts'
import { foldersRoutes } from '../features/folders/routes.ts'
import { linksRoutes } from '../features/links/routes.ts'
import { qrRoutes } from '../features/qr/routes.ts'
import { tagsRoutes } from '../features/tags/routes.ts'
import { contextReader } from '../features/tokens/service.ts'
import type { Platform } from '../platform/context.ts'
import { serve } from '../platform/http.ts'
import { type Listening, listen, webServer } from '../platform/listen.ts'
import { opsListener } from '../platform/ops.ts'
import { startRelay } from '../platform/outbox.ts'
import { openRateLimiter } from '../platform/rate-limit.ts'

export const routes = [
  ...analyticsRoutes,
  ...domainsRoutes,
  ...eventsRoutes,
  ...foldersRoutes,
  ...linksRoutes,
  ...tagsRoutes,
]

export async function start(platform: Platform): Promise<Listening> {
  const { config } = platform
  const serving = { platform, limiter: openRateLimiter(platform.valkey), contextOf: contextReader() }
  const app = serve(routes, serving, qrRoutes(config))
  app.route('/', docsPages(config))
  const server = webServer(config, opsListener(platform, getRequestListener(app.fetch)))
  await using parts = new AsyncDisposableStack()
  // Changes reach the redirects within a second even while no worker runs.
  parts.use(startRelay(platform))
  const { port } = parts.use(await listen(server, config.HOST, config.API_PORT, config.SHUTDOWN_GRACE_MS))
  const opened = parts.move()
  return { port, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
}

import { openLinkCache } from '../features/redirect/cache.ts'
import { openCapture } from '../features/redirect/capture.ts'
import { redirectListener } from '../features/redirect/routes.ts'
import { openSpool } from '../features/redirect/spool.ts'
import type { Platform } from '../platform/context.ts'
import { type Listening, listen, webServer } from '../platform/listen.ts'

export async function start(platform: Platform): Promise<Listening> {
  const { config } = platform
  const spool = await openSpool(platform)
  const capture = openCapture(platform, spool)
  const cache = openLinkCache(platform)
  const server = webServer(config, redirectListener(platform, { cache, capture }))
  const listening = await listen(server, config.HOST, config.REDIRECT_PORT, config.SHUTDOWN_GRACE_MS)
  const parts = [spool, capture, cache, listening]
  return {
    port: listening.port,
    async [Symbol.asyncDispose]() {
      for (const part of parts.reverse()) await part[Symbol.asyncDispose]()
    },
  }
}

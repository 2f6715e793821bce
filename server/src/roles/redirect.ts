import { redirectListener } from '../features/redirect/routes.ts'
import { openRedirect } from '../features/redirect/service.ts'
import { countVisitorProcesses } from '../platform/config.ts'
import type { Platform } from '../platform/context.ts'
import { type Listening, listen, webServer } from '../platform/listen.ts'

export async function start(platform: Platform, stopping?: AbortSignal): Promise<Listening> {
  const { config } = platform
  await using parts = new AsyncDisposableStack()
  const redirect = parts.use(await openRedirect(platform))
  const server = webServer(config, redirectListener(platform, redirect), { stopping })
  const sharesPort = countVisitorProcesses(config) > 1
  const { port } = parts.use(
    await listen(server, config.HOST, config.REDIRECT_PORT, config.SHUTDOWN_GRACE_MS, sharesPort),
  )
  const opened = parts.move()
  return { port, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
}

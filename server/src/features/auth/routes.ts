import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Platform } from '../../platform/context.ts'
import { requireSameOrigin } from '../../platform/credentials.ts'
import { badRequest } from '../../platform/errors.ts'
import type { App } from '../../platform/http.ts'
import { openIdentity } from './identity.ts'

const maxBytes = 64 * 1024
/** Endpoints of the identity library that are public; pages use the others through our own functions. */
const publicPaths = ['/auth/get-session', '/auth/sign-in/email', '/auth/sign-out']

/** Serves sign-in under /auth. */
export function authRoutes(platform: Platform): App {
  const { config } = platform
  const identity = openIdentity(platform)
  const app: App = new Hono()
  const limit = bodyLimit({
    maxSize: maxBytes,
    onError: () => {
      throw badRequest(`The body is larger than ${maxBytes} bytes. Send less.`)
    },
  })
  for (const path of publicPaths) {
    app.on(['GET', 'POST'], path, limit, (c) => {
      if (c.req.method !== 'GET') requireSameOrigin((name) => c.req.header(name), config.API_URL)
      return identity.handler(c.req.raw)
    })
  }
  return app
}

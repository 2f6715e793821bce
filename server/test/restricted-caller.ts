import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { afterAll } from 'vitest'
import { auditLog } from '../src/features/audit/service.ts'
import { openRedirect } from '../src/features/redirect/service.ts'
import type { FolderAccess, Platform } from '../src/platform/context.ts'
import { serve } from '../src/platform/http.ts'
import { openRateLimiter } from '../src/platform/rate-limit.ts'
import { bindRoutes } from '../src/roles/api.ts'

export type Answer = { status: number; text: string }
export type Call = (
  caller: 'free' | 'restricted',
  method: string,
  path: string,
  input?: { query?: Record<string, string>; body?: unknown; signal?: AbortSignal },
) => Promise<Response>

/**
 * Serves the API of a workspace to two members: `restricted` has this access to folders, `free` has no restriction. Both
 * have every scope, so that only folders differ.
 */
export async function serveMembers(platform: Platform, workspaceId: string, folderAccess: FolderAccess): Promise<Call> {
  const redirect = await openRedirect(platform)
  let actors = 0
  const app = serve(bindRoutes(platform, redirect), {
    platform,
    limiter: openRateLimiter(platform.valkey),
    recorder: auditLog,
    async openContext(platform, { authorization }) {
      // Each request comes from another actor, so that no rate limit applies.
      const actor = { kind: 'user' as const, id: `${workspaceId}_${actors++}`, scopes: ['apis.all' as const] }
      const ctx = { ...platform, workspaceId, plan: 'enterprise' as const, actor }
      return authorization === 'restricted' ? { ...ctx, folderAccess } : ctx
    },
  })
  const server = createServer(getRequestListener(app.fetch))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await redirect[Symbol.asyncDispose]()
  })
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return (caller, method, path, { query = {}, body, signal } = {}) =>
    fetch(`${api}${path}?${new URLSearchParams(query)}`, {
      method: method.toUpperCase(),
      headers: { authorization: caller, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    })
}

export async function readAnswer(response: Response): Promise<Answer> {
  return { status: response.status, text: await response.text() }
}

import * as contract from '@tributary/contract/shares'
import { parse as parseCookies } from 'hono/utils/cookie'
import type { z } from 'zod'
import { clientNetwork } from '../../platform/client-address.ts'
import type { Platform } from '../../platform/context.ts'
import { type Bytes, type Route, route } from '../../platform/http.ts'
import { renderShare } from './html.ts'
import { createShare, deleteShare, getShare, listShares, updateShare } from './service.ts'
import { cookieName, writeCookie } from './token.ts'
import { openVisits } from './visit.ts'

type Header = (name: string) => string

const longestPassword = 200
const dataHeaders = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

/** Operations of the workspace, and those of visitors, who need no key. */
export function sharesRoutes(platform: Platform): Route[] {
  const visits = openVisits(platform)
  return [
    route(contract.listShares, (ctx, { query }) => listShares(ctx, query)),
    route(contract.createShare, (ctx, { body }) => createShare(ctx, body)),
    route(contract.getShare, (ctx, { params }) => getShare(ctx, params.id)),
    route(contract.updateShare, (ctx, { params, body }) => updateShare(ctx, params.id, body)),
    route(contract.deleteShare, (ctx, { params }) => deleteShare(ctx, params.id)),
    route(contract.getSharePage, async (caller, { params }, { header }) =>
      sendJson(contract.sharePage, await visits.readPage(params.id, readVisitor(caller, header))),
    ),
    route(contract.retrieveShareAnalytics, async (caller, { params, body }, { header }) =>
      sendJson(contract.shareAnalytics, await visits.count(params.id, readVisitor(caller, header), body)),
    ),
    route(contract.unlockShare, async ({ ip }, { params, body }, { url }) => {
      const visitor = { network: clientNetwork(ip), token: '', ...body }
      const { token, expiresAt } = await visits.unlock(params.id, visitor)
      const cookie = { 'Set-Cookie': writeCookie(url, token) }
      return sendJson(contract.unlockShare.response, { expiresAt: expiresAt.toISOString() }, cookie)
    }),
    route(contract.showShare, async (_, { params }, { header }) => showPage(platform, params.id, header)),
  ]
}

function readVisitor({ ip }: { ip: string }, header: Header) {
  return {
    network: clientNetwork(ip),
    password: header('x-stats-password').slice(0, longestPassword + 1),
    token: readCookies(header)[cookieName] ?? '',
  }
}

async function showPage(platform: Platform, id: string, header: Header): Promise<Bytes> {
  const { tributary_theme: theme, tributary_language: language } = readCookies(header)
  const preferences = { theme, language, accepted: header('accept-language') }
  const { html, status, headers } = await renderShare(platform, id, preferences)
  return { body: Buffer.from(html), status, headers: { ...headers, 'Content-Type': 'text/html; charset=utf-8' } }
}

function readCookies(header: Header): Record<string, string | undefined> {
  return parseCookies(header('cookie'))
}

function sendJson<S extends z.ZodType>(schema: S, value: z.input<S>, headers: Record<string, string> = {}): Bytes {
  const body = Buffer.from(JSON.stringify(schema.parse(value)))
  return { body, status: 200, headers: { 'Content-Type': 'application/json', ...dataHeaders, ...headers } }
}

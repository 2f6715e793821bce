import { randomBytes } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { parseJson, readBody } from '../../platform/body.ts'
import { clientNetwork, openAddressReader, readClient } from '../../platform/client-address.ts'
import type { Platform } from '../../platform/context.ts'
import { requireSameOrigin } from '../../platform/credentials.ts'
import { invalid, unauthorized } from '../../platform/errors.ts'
import type { App } from '../../platform/http.ts'
import { cutQuery, parseParameters } from '../../platform/query-string.ts'
import type { RateLimiter } from '../../platform/rate-limit.ts'
import { parse } from '../../platform/validation.ts'
import { accountVisits } from './account-visits.ts'
import { openIdentity } from './identity.ts'
import { inviteVisits } from './invite-visits.ts'
import { readLanguage } from './language.ts'
import { explainLibrary } from './library-errors.ts'
import { limitVisits } from './limits.ts'
import { pageHeaders, renderPage } from './pages/layout.ts'
import { passkeyScript } from './passkey-script.ts'
import { callPasskeys, libraryHeaders, type PasskeyPath, passkeyPaths } from './passkeys.ts'
import { findSession } from './service.ts'
import { type Auth, type Browser, type PeopleHooks, reauthenticate } from './sign-in.ts'
import { signInVisits } from './sign-in-visits.ts'
import { type Answer, orMessage, safeNext } from './visit.ts'

const bodyLimit = 64 * 1024
const confirmation = z.object({ password: z.string().min(1).max(200) })
type Request = Context<App extends Hono<infer Env> ? Env : never>

/** Serves the pages of sign-in and account, and the passkey endpoints under /auth. */
export function authRoutes(platform: Platform, limiter: RateLimiter, hooks: PeopleHooks): App {
  const { config } = platform
  const auth: Auth = { ...platform, limiter, hooks, identity: openIdentity(platform) }
  const readAddress = openAddressReader(config.TRUSTED_PROXIES)
  const app: App = new Hono()

  async function openBrowser(c: Request): Promise<Browser> {
    const { ip } = readClient(c.env.incoming, readAddress)
    const cookie = c.req.header('cookie')
    const network = clientNetwork(ip)
    await limitVisits(auth, network)
    if (c.req.method !== 'GET') requireSameOrigin((name) => c.req.header(name), config.API_URL)
    const given = { ...(cookie && { cookie }), userAgent: c.req.header('user-agent') ?? '' }
    return { headers: libraryHeaders(given, ip), network, session: await findSession(auth, cookie) }
  }

  const readText = async (c: Request) => (await readBody(c.env.incoming, { bodyLimit }, config)).toString('utf8')

  for (const [name, handler] of Object.entries({ ...signInVisits, ...accountVisits, ...inviteVisits })) {
    const [method = '', path = ''] = name.split(' ')
    app.on(method, path, async (c) => {
      const answer = await orMessage('That did not work', async () => {
        const browser = await openBrowser(c)
        const query = readFields(cutQuery(c.req.url))
        const form = readFields(method === 'POST' ? await readText(c) : '')
        requirePrintable(form)
        const next = safeNext(form.get('next') ?? query.get('next'), config.API_URL)
        try {
          return await handler({ auth, browser, query, form, next })
        } catch (error) {
          throw explainLibrary(error)
        }
      })
      return respond(c, answer)
    })
  }
  for (const [path, method] of Object.entries(passkeyPaths)) {
    app.on(method, `/auth/passkey/${path}`, async (c) => {
      const browser = await openBrowser(c)
      const body = method === 'POST' ? { body: await readText(c) } : {}
      return callPasskeys(auth, browser, { path: path as PasskeyPath, ...body })
    })
  }
  app.post('/auth/confirm', async (c) => {
    const { session, ...browser } = await openBrowser(c)
    if (!session) throw unauthorized('Sign in first.')
    const { password } = parse(confirmation, parseJson(Buffer.from(await readText(c)), { bodyValues: 100 }), 'body')
    await reauthenticate(auth, { ...browser, session }, password)
    return c.json({})
  })
  app.get('/auth/passkeys.js', (c) => {
    const headers = { 'Content-Type': 'text/javascript; charset=utf-8', 'Cache-Control': 'no-cache' }
    return c.body(passkeyScript, 200, { ...headers, 'X-Content-Type-Options': 'nosniff' })
  })
  return app
}

const mostFields = 100

function readFields(text: string): URLSearchParams {
  return new URLSearchParams(parseParameters(text, mostFields))
}

/** PostgreSQL stores no NUL characters, and no field of ours has several lines. */
function requirePrintable(form: URLSearchParams): void {
  for (const [name, value] of form) {
    if (/\p{Cc}/u.test(value)) throw invalid(`The field ${name.slice(0, 50)} has a control character. Type it again.`)
  }
}

function respond(c: Request, answer: Answer): Response {
  for (const cookie of answer.cookies ?? []) c.header('Set-Cookie', cookie, { append: true })
  if ('location' in answer) return c.redirect(answer.location, 303)
  const nonce = randomBytes(16).toString('base64url')
  const status = (answer.status ?? 200) as 200
  return c.body(renderPage(answer.page, nonce, readLanguage(c.req.raw.headers)), status, pageHeaders(nonce))
}

import * as contract from '@tributary/contract/notifications'
import { Hono } from 'hono'
import { clientNetwork, openAddressReader, readClient } from '../../platform/client-address.ts'
import type { Platform } from '../../platform/context.ts'
import { type App, route } from '../../platform/http.ts'
import { cutQuery, readParameters } from '../../platform/query-string.ts'
import { type RateLimiter, tooMany } from '../../platform/rate-limit.ts'
import { getSettings, listNotifications, updateSettings } from './service.ts'
import { findSubscribed, readToken, unsubscribe } from './unsubscribe.ts'
import { confirmPage, donePage, invalidPage, unsubscribeHeaders } from './unsubscribe-html.ts'

export const notificationsRoutes = [
  route(contract.listNotifications, (ctx, { query }) => listNotifications(ctx, query)),
  route(contract.getNotificationSettings, (ctx) => getSettings(ctx)),
  route(contract.updateNotificationSettings, (ctx, { body }) => updateSettings(ctx, body)),
]

const path = '/notifications/unsubscribe'
const visits = { limit: 60, windowSeconds: 60 }

/** The page behind the unsubscribe link of an e-mail. GET only asks; POST, which mail programs send too, unsubscribes. */
export function unsubscribePages(platform: Platform, limiter: RateLimiter): App {
  const readAddress = openAddressReader(platform.config.TRUSTED_PROXIES)
  const app: App = new Hono()
  app.on(['GET', 'POST'], path, async (c) => {
    const { ip } = readClient(c.env.incoming, readAddress)
    const verdict = await limiter(`unsubscribe:${clientNetwork(ip)}`, visits, platform.now())
    if (!verdict.allowed) throw tooMany(verdict)
    const subscription = readToken(platform.config, readParameters(cutQuery(c.req.url), ['token']).token ?? '')
    const workspace = subscription && (await findSubscribed(platform, subscription))
    if (!subscription || !workspace) return c.body(invalidPage(), 404, unsubscribeHeaders)
    const subscribed = { ...workspace, kinds: subscription.kinds }
    if (c.req.method !== 'POST') return c.body(confirmPage(subscribed), 200, unsubscribeHeaders)
    await unsubscribe(platform, subscription)
    return c.body(donePage(subscribed), 200, unsubscribeHeaders)
  })
  return app
}

import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { createToken } from '../../../server/src/features/tokens/service.ts'
import type { Platform } from '../../../server/src/platform/context.ts'
import { buildClick, buildLink, buildMember, buildWorkspace } from '../../../server/test/build.ts'
import { buildObjects } from '../../../server/test/build-objects.ts'
import type { Foreign } from '../../../server/test/foreign-values.ts'
import { type ValidCall, validWrites } from '../../../server/test/valid-writes.ts'
import { buildWebhook, queueEvents } from '../../../server/test/webhooks.ts'

/** A workspace of the attacker: its credentials, an object of each kind, and a valid call of each write. */
export type Tenant = {
  objects: Foreign
  cookie: string
  publishableKey: string
  calls: Record<string, ValidCall>
  /** Links for visitors, in a workspace that the attacker does not change. */
  visited: { domain: string; keys: string[] }
}

/** Hosts whose pages may use the publishable key. */
const pageHosts = ['shop.example.com', '*.pages.example']

export async function buildTenant(platform: Platform, receiver: string): Promise<Tenant> {
  const workspace = await buildWorkspace(platform)
  const secret = `s-${randomUUID()}`
  const ids = await buildObjects(platform, workspace, secret)
  const link = await buildLink(platform, workspace, { key: 'plain', trackConversion: true })
  const webhook = await buildWebhook(platform, workspace.id, { url: receiver })
  const [eventId = ''] = await queueEvents(platform, [webhook])
  const page = { workspaceId: workspace.id, name: 'page', isPublishable: true, allowedHostnames: pageHosts }
  const numbers = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${link.id}`.execute(platform.db)
  const numbered = { number: numbers.rows[0]?.number ?? 0n, workspaceId: workspace.id, url: link.url }
  const calls: Tenant['calls'] = {}
  for (const [id, build] of Object.entries(validWrites(platform, workspace))) calls[id] = await build()
  return {
    objects: {
      ...workspace,
      ...ids,
      externalId: secret,
      clickId: buildClick(platform, numbered).id,
      webhookId: webhook.id,
      eventId,
    },
    cookie: (await buildMember(platform, workspace, 'owner')).cookie,
    publishableKey: (await createToken(platform, page)).key,
    calls,
    visited: await buildVisited(platform),
  }
}

async function buildVisited(platform: Platform): Promise<Tenant['visited']> {
  const workspace = await buildWorkspace(platform)
  const links = await Promise.all([
    buildLink(platform, workspace, { key: 'plain', trackConversion: true }),
    buildLink(platform, workspace, { key: 'Ünï/🙂', trackConversion: true }),
    buildLink(platform, workspace, { key: 'secret', password: 'correct-horse-battery' }),
    buildLink(platform, workspace, { key: 'over', expiresAt: '2020-01-01T00:00:00Z' }),
    buildLink(platform, workspace, { key: 'cloaked', rewrite: true, title: '<b>', image: 'https://example.com/i.png' }),
    buildLink(platform, workspace, {
      key: 'aimed',
      ios: 'https://example.com/ios',
      android: 'https://example.com/android',
      geo: { DE: 'https://example.com/de', US: 'https://example.com/us' },
      trackConversion: true,
    }),
    buildLink(platform, workspace, {
      key: 'tested',
      testVariants: [
        { url: 'https://example.com/a', percentage: 50 },
        { url: 'https://example.com/b', percentage: 50 },
      ],
      testStartedAt: new Date(Date.now() - 60_000).toISOString(),
      testCompletedAt: new Date(Date.now() + 86_400_000).toISOString(),
    }),
  ])
  return { domain: workspace.domain, keys: [...links.map(({ key }) => key), '_root'] }
}

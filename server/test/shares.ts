import { createClient } from '@tributary/contract/client'
import type { NewShare } from '@tributary/contract/shares'
import { createFolder } from '../src/features/folders/service.ts'
import { linkNumbers } from '../src/features/links/service.ts'
import { createView } from '../src/features/views/service.ts'
import type { Platform } from '../src/platform/context.ts'
import { buildLink, buildWorkspace } from './build.ts'
import { contextIn } from './context.ts'
import { clickRow, leadRow, saleRow, storeEvents } from './events/feed-rows.ts'

export type ShareCall = { status: number; text: string; json: never; cookie: string }

/** A workspace with a folder, a link in it with clicks, leads and sales, and another link without a folder. */
export async function buildShared(platform: Platform, api: string) {
  const workspace = await buildWorkspace(platform)
  const ctx = contextIn(platform, workspace.id)
  const folder = await createFolder(ctx, { name: 'Secret folder', accessLevel: 'write' })
  const link = await buildLink(platform, workspace, { key: 'sale', folderId: folder.id })
  const other = await buildLink(platform, workspace, { key: 'other' })
  const [owner, stranger] = await Promise.all(
    [link, other].map(async ({ id }) => {
      const [linkNumber = 0n] = await linkNumbers(ctx, { ids: [id] })
      return { workspaceId: workspace.id, linkNumber }
    }),
  )
  if (!owner || !stranger) throw new Error('no links')
  const ago = (hours: number) => Date.now() - hours * 3_600_000
  const france = { country: 'FR', region: 'FR-75', city: 'Paris', device: 'Mobile', browser: 'Safari', os: 'iOS' }
  const clicks = [
    clickRow(owner, { timestamp: ago(1) }),
    clickRow(owner, { ...france, timestamp: ago(2), referer: 'news.example', referer_url: 'https://news.example/a' }),
    clickRow(owner, { ...france, timestamp: ago(3 * 24), trigger: 'qr' }),
    clickRow(owner, { timestamp: ago(2), bot: 'agent' }),
    clickRow(stranger, { timestamp: ago(5 * 24), country: 'US', continent: 'NA', browser: 'Firefox' }),
  ]
  const sale = { ...france, timestamp: ago(1), amount: '4242' }
  // A country without clicks has a lead, so that a row with conversions alone would be noticed.
  const leads = [
    leadRow(owner, { timestamp: ago(1) }),
    leadRow(owner, { timestamp: ago(1), country: 'JP', continent: 'AS' }),
  ]
  await storeEvents(platform, { clicks, leads, sales: [saleRow(owner, sale), saleRow(stranger, { amount: '777' })] })
  const call = createClient({ url: api, token: workspace.key })
  const share = (body: Partial<NewShare>) => call('createShare', { body })
  const saveView = (query: Record<string, string>, name = 'Secret view') =>
    createView(ctx, { screen: 'analytics', name, query, visibility: 'shared' })
  return { workspace, ctx, folder, link, other, call, share, saveView }
}

/** Calls an operation for visitors, without any credentials but those given. */
export async function visitShare(
  url: string,
  { body, password, cookie }: { body?: unknown; password?: string; cookie?: string } = {},
): Promise<ShareCall> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(password !== undefined && { 'x-stats-password': password }),
      ...(cookie !== undefined && { cookie }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = text.startsWith('{') ? JSON.parse(text) : undefined
  return { status: response.status, text, json: json as never, cookie: response.headers.get('set-cookie') ?? '' }
}

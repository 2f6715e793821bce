import { createHash } from 'node:crypto'
import type { Platform } from '../../platform/context.ts'
import { notFound } from '../../platform/errors.ts'
import { randomText } from '../../platform/ids.ts'
import { reportChange } from '../../platform/recording.ts'
import { liveWorkspaceCondition } from '../workspaces/service.ts'
import type { DomainCtx } from './announce.ts'
import { deleteSetupPageRow, selectSetupPage, upsertSetupPage } from './findings-store.ts'
import { requireDomain } from './service.ts'
import { missingPage, statusPage } from './setup-page-html.ts'
import { refreshStatus } from './status.ts'
import { selectDomainById } from './store.ts'

const validMs = 30 * 24 * 3_600_000
const tokenLength = 32
const liveDomain = liveWorkspaceCondition({ workspace: 'd.workspace_id' })

/** Creates a public page that says which records to set. Only this return value has its link. */
export async function createSetupPage(ctx: DomainCtx, slug: string): Promise<{ url: string; expiresAt: string }> {
  const domain = await requireDomain(ctx, slug)
  const token = randomText(tokenLength)
  const expiresAt = new Date(ctx.now().getTime() + validMs)
  const page = { domainId: domain.id, hash: hashToken(token), expiresAt }
  if (!(await upsertSetupPage(ctx.db, ctx.workspaceId, page))) throw notFound('domain', slug)
  reportChange(ctx, { id: domain.id, after: { setupPageExpiresAt: expiresAt.toISOString() } })
  const url = `${ctx.config.API_URL}/domains/setup-page?token=${token}`
  return { url, expiresAt: expiresAt.toISOString() }
}

/** Ends the public page of a domain, if it has one. */
export async function deleteSetupPage(ctx: DomainCtx, slug: string): Promise<{ slug: string }> {
  const domain = await requireDomain(ctx, slug)
  reportChange(ctx, { id: domain.id, after: { setupPageExpiresAt: null } })
  await deleteSetupPageRow(ctx.db, ctx.workspaceId, domain.id)
  return { slug: domain.slug }
}

/** Returns the HTML for every visitor with the link; it looks the records up again if the last lookup is a few seconds old. */
export async function readSetupPage(platform: Platform, token: string): Promise<{ html: string; isFound: boolean }> {
  const page = await selectSetupPage(platform.db, hashToken(token), platform.now())
  const domain = page && (await selectDomainById(platform.db, page.workspaceId, page.domainId, liveDomain))
  if (!domain) return { html: missingPage(), isFound: false }
  return { html: statusPage(await refreshStatus(platform, domain)), isFound: true }
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

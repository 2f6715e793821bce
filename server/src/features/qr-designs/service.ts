import { getQRCode } from '@tributary/contract/qr'
import {
  defaultQrDesign,
  type EffectiveQrDesign,
  type NewQrDesign,
  type QrDesign,
  qrDesign,
} from '@tributary/contract/qr-designs'
import type { Ctx } from '../../platform/context.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { findDomainId, requireDomain } from '../domains/service.ts'
import { requireLinkAddress } from '../links/service.ts'
import { sharedQrCodes } from '../qr/service.ts'
import { requireOwn } from '../workspaces/service.ts'
import { type DesignOwner, deleteDesignRow, insertDesign, selectDesign, selectOwnDesign } from './store.ts'

/** What has a design of its own, as the path names it. */
export type Owner = { kind: 'link' | 'domain' | 'workspace'; name: string }
/** The rows of which the most specific one applies, and a URL for which codes are drawn. */
type Target = { id: string; own: DesignOwner; inherited: DesignOwner; url: string }

// A link's path in a test drawing, of the default length.
const samplePath = 'example'

export async function getDesign(ctx: Ctx, owner: Owner): Promise<EffectiveQrDesign> {
  return readEffective(ctx, await findTarget(ctx, owner, { isChange: false }))
}

/** Draws and decodes a design. Returns whether the decoder could read it; throws 422 for a design that can't be drawn. */
export async function testDesign(ctx: Ctx, owner: Owner, design: NewQrDesign): Promise<boolean> {
  const { url } = await findTarget(ctx, owner, { isChange: false })
  const [scans = false] = await scanDesigns(ctx, url, [design])
  return scans
}

export async function scanDesigns(ctx: Ctx, url: string, designs: readonly NewQrDesign[]): Promise<boolean[]> {
  const queries = designs.map((design) => getQRCode.query.parse({ url, ...toQuery(design) }))
  return sharedQrCodes(ctx.config)
    .scan(queries, ctx.workspaceId)
    .catch((error) => {
      // The design is drawn by `GET /qr`, whose messages name its query.
      if (!(error instanceof AppError) || error.code !== 'unprocessable_entity') throw error
      throw invalid(error.message.replaceAll('in the query', 'in the body'))
    })
}

export async function setDesign(
  ctx: Ctx,
  owner: Owner,
  design: NewQrDesign,
  scans: boolean,
): Promise<EffectiveQrDesign> {
  return transaction(ctx, async (ctx) => {
    const target = await findTarget(ctx, owner, { isChange: true })
    const before = await selectOwnDesign(ctx.db, ctx.workspaceId, target.own)
    reportChange(ctx, { id: target.id, before: before && withoutImage(before.design), after: withoutImage(design) })
    await insertDesign(ctx.db, ctx.workspaceId, target.own, { design, scans })
    return readEffective(ctx, target)
  })
}

export async function deleteDesign(ctx: Ctx, owner: Owner): Promise<EffectiveQrDesign> {
  return transaction(ctx, async (ctx) => {
    const target = await findTarget(ctx, owner, { isChange: true })
    const before = await selectOwnDesign(ctx.db, ctx.workspaceId, target.own)
    reportChange(ctx, { id: target.id, before: before ? withoutImage(before.design) : {} })
    await deleteDesignRow(ctx.db, ctx.workspaceId, target.own)
    return readEffective(ctx, target)
  })
}

async function findTarget(ctx: Ctx, { kind, name }: Owner, { isChange }: { isChange: boolean }): Promise<Target> {
  const none = { linkNumber: null, domainId: null }
  switch (kind) {
    case 'link': {
      const link = await requireLinkAddress(ctx, name, { isChange })
      const own = { ...none, linkNumber: link.number }
      const domainId = await findDomainId(ctx, link.domain)
      return { id: link.id, own, inherited: { linkNumber: link.number, domainId }, url: link.shortLink }
    }
    case 'domain': {
      const { id, slug } = await requireDomain(ctx, name)
      const own = { ...none, domainId: id }
      return { id, own, inherited: own, url: `https://${slug}/${samplePath}` }
    }
    case 'workspace': {
      const { id } = await requireOwn(ctx, name)
      return { id, own: none, inherited: none, url: `https://${ctx.config.SHORT_DOMAIN}/${samplePath}` }
    }
  }
}

async function readEffective(ctx: Ctx, { inherited, url }: Target): Promise<EffectiveQrDesign> {
  const row = await selectDesign(ctx.db, ctx.workspaceId, inherited)
  const stored = qrDesign.safeParse({ ...defaultQrDesign, ...row?.design })
  const design = stored.success ? stored.data : defaultQrDesign
  const source = !row ? 'default' : row.linkNumber !== null ? 'link' : row.domainId !== null ? 'domain' : 'workspace'
  const query = new URLSearchParams({ url, ...toQuery(design) })
  return { design, source, scans: row?.scans ?? true, qrCode: `${ctx.config.API_URL}/qr?${query}` }
}

/** The parameters of `GET /qr` that differ from its defaults. */
function toQuery(design: QrDesign): Record<string, string> {
  const given = Object.entries(design).filter(
    ([name, value]) => value !== null && value !== defaultQrDesign[name as keyof QrDesign],
  )
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
}

/** An image in the audit log would hide the other changes, because an entry is limited in size. */
function withoutImage(design: Partial<QrDesign>): object {
  return design.logo?.startsWith('data:') ? { ...design, logo: 'data:…' } : design
}

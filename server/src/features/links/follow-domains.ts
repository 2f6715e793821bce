import { asSystem, type Ctx, type Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import type { DomainChanged } from '../domains/messages.ts'
import { moveToDomain, selectLinksByNumber, selectNumbersOfDomain } from './store.ts'
import { lockLinkTags } from './totals-store.ts'
import { publishEvents, removeLinks } from './write.ts'

const atOnce = 500

/** Deletes the links of deleted domains and moves the links of renamed domains. */
export async function followDomains(platform: Platform, changes: DomainChanged[]): Promise<void> {
  for (const change of changes) {
    const ctx = asSystem(platform, change.workspaceId)
    if (change.deleted) await repeat(ctx, change, removeLinks)
    else if (change.renamedTo) await repeat(ctx, change, move)
  }
}

type Work = (ctx: Ctx, numbers: bigint[], change: DomainChanged) => Promise<unknown>

/** Processes a domain's links in batches. Skips links created after the change, which belong to its next owner. */
async function repeat(ctx: Ctx, change: DomainChanged, work: Work): Promise<void> {
  for (let more = true; more; ) {
    more = await transaction(ctx, async (ctx) => {
      await lockLinkTags(ctx.db, ctx.workspaceId)
      const numbers = await selectNumbersOfDomain(ctx.db, ctx.workspaceId, change.slug, change.at, atOnce)
      if (numbers.length > 0) await work(ctx, numbers, change)
      return numbers.length === atOnce
    })
  }
}

async function move(ctx: Ctx, numbers: bigint[], { slug, renamedTo = slug }: DomainChanged): Promise<void> {
  const before = await selectLinksByNumber(ctx.db, ctx.workspaceId, numbers)
  await moveToDomain(ctx.db, ctx.workspaceId, numbers, renamedTo)
  const after = await selectLinksByNumber(ctx.db, ctx.workspaceId, numbers)
  const former = new Map(before.map((row) => [row.number, row]))
  await publishEvents(ctx, 'link.updated', after, former)
}

import { z } from 'zod'
import type { Ctx, Platform } from '../../platform/context.ts'
import { conflict, invalid, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { type DomainRow, insertDomain, selectDomain, selectPrimaryDomain } from './store.ts'

export type Domain = DomainRow

/** The operator's way: no proof of ownership is asked for. */
export async function addDomain(
  platform: Pick<Platform, 'db'>,
  input: { workspaceId: string; slug: string },
): Promise<Domain> {
  const slug = input.slug.toLowerCase()
  if (!z.hostname().max(190).safeParse(slug).success) throw invalid(`${JSON.stringify(input.slug)} is not a host name.`)
  const row = { id: newId('dom'), workspace_id: input.workspaceId, slug, verified: true }
  const domain = await insertDomain(platform.db, row)
  if (!domain) throw conflict(`The domain ${slug} is already in use.`)
  return domain
}

/** The domain a link goes on: the one asked for, else the primary one, else the shared one. */
export async function domainForLink(ctx: Ctx, asked: string | undefined): Promise<string> {
  if (asked === undefined) return (await selectPrimaryDomain(ctx.db, ctx.workspaceId)) ?? ctx.config.SHORT_DOMAIN
  const slug = asked.toLowerCase()
  if (slug === ctx.config.SHORT_DOMAIN) return slug
  if (!(await selectDomain(ctx.db, ctx.workspaceId, slug))) throw notFound('domain', slug)
  return slug
}

import type { TrackedLink } from '@tributary/contract/track'
import type { Ctx } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { clickKeys, readClickId } from '../click-ids/service.ts'
import { linkForConversion } from '../links/service.ts'
import type { ClickSeen } from './attribution.ts'

export type KnownClick = ClickSeen & { link: TrackedLink }

/** Decodes a click id, because the click may not be stored yet. Rejects forged ids and ids of other workspaces. */
export async function requireClick(ctx: Ctx, clickId: string): Promise<KnownClick> {
  const click = await findClick(ctx, clickId)
  if (click) return click
  throw new AppError('not_found', `There is no click ${JSON.stringify(clickId)} on a link of this workspace.`)
}

export async function findClick(ctx: Ctx, clickId: string): Promise<KnownClick | null> {
  const token = readClickId(clickKeys(ctx.config), clickId)
  const link = token && (await linkForConversion(ctx, token.linkNumber))
  return token && link ? { clickId, linkNumber: token.linkNumber, hour: token.hour, link } : null
}

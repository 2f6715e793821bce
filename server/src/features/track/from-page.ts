import type { NewLead, NewSale } from '@tributary/contract/track'
import type { Ctx } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { savepoint, transaction } from '../../platform/postgres.ts'
import { trackLead } from './leads.ts'
import { notePage } from './page-reports.ts'
import { convertSale, trackSale } from './sales.ts'

/*
 * A publishable key is public and must not reveal what is stored: a lead or sale that can't be recorded gets the same
 * response as a recorded one. Only an invalid request gets an error.
 */

export async function trackLeadFromPage(ctx: Ctx, input: NewLead): Promise<undefined> {
  await notePage(ctx, ctx.workspaceId, 'a page with a publishable key')
  return withoutAnswer(ctx, (ctx) => trackLead(ctx, input))
}

export async function trackSaleFromPage(ctx: Ctx, input: NewSale): Promise<undefined> {
  // Validate currency and amount before any lookup, so that an error depends on the request alone.
  await convertSale(ctx, input)
  return withoutAnswer(ctx, (ctx) => trackSale(ctx, input))
}

/** Records a lead or sale but hides its failure. Rolls back even inside the transaction of an `Idempotency-Key`. */
async function withoutAnswer(ctx: Ctx, track: (ctx: Ctx) => Promise<unknown>): Promise<undefined> {
  try {
    await transaction(ctx, (ctx) => savepoint(ctx, track))
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'rate_limit_exceeded') throw error
    ctx.log.debug({ code: error.code, requestId: ctx.requestId }, 'lead or sale from a page not recorded')
  }
}

import type { NewLead, NewSale } from '@tributary/contract/track'
import type { Ctx } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { savepoint, transaction } from '../../platform/postgres.ts'
import { trackLead } from './leads.ts'
import { convertSale, trackSale } from './sales.ts'

/*
 * A publishable key is public: whoever has it must not learn what is stored. What can't be recorded is answered like what
 * was, and only the request itself decides about an error.
 */

export function trackLeadFromPage(ctx: Ctx, input: NewLead): Promise<undefined> {
  return withoutAnswer(ctx, (ctx) => trackLead(ctx, input))
}

export async function trackSaleFromPage(ctx: Ctx, input: NewSale): Promise<undefined> {
  // Before anything is looked up, so that the refusal depends on the request alone.
  await convertSale(ctx, input)
  return withoutAnswer(ctx, (ctx) => trackSale(ctx, input))
}

/** Nothing stays of what was refused, also inside the transaction of an `Idempotency-Key`. */
async function withoutAnswer(ctx: Ctx, track: (ctx: Ctx) => Promise<unknown>): Promise<undefined> {
  try {
    await transaction(ctx, (ctx) => savepoint(ctx, track))
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'rate_limit_exceeded') throw error
    ctx.log.debug({ code: error.code, requestId: ctx.requestId }, 'conversion of a page not recorded')
  }
}

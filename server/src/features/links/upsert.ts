import type { Link, NewLink } from '@tributary/contract/links'
import type { Ctx } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { presentAll } from './present.ts'
import { destinationColumns } from './settings.ts'
import { selectNewestByUrl } from './store.ts'
import { changeLink, makeLink } from './write.ts'

/** Updates the link with this destination (with its UTM parameters, as stored), or creates one. */
export async function upsertLink(ctx: Ctx, input: NewLink): Promise<Link> {
  const row = await transaction(ctx, async (ctx) => {
    const url = destinationColumns(input, input.url).url ?? input.url
    const existing = await selectNewestByUrl(ctx.db, ctx.workspaceId, url)
    const { keyLength, prefix, ...patch } = input
    return existing ? changeLink(ctx, existing, patch) : makeLink(ctx, input)
  })
  return (await presentAll(ctx, [row]))[0] as Link
}

import type { Link, NewLink } from '@tributary/contract/links'
import type { Ctx } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { hiddenFolders } from '../folders/service.ts'
import { createOne } from './create.ts'
import { presentAll } from './present.ts'
import { destinationColumns } from './settings.ts'
import { selectNewestByUrl } from './store.ts'
import { changeLink } from './write.ts'

/** Updates the link with this destination (with its UTM parameters, as stored), of this partner if given, or creates one. */
export async function upsertLink(ctx: Ctx, input: NewLink, partnerId?: string): Promise<Link> {
  return transaction(ctx, async (ctx) => {
    const url = destinationColumns(input, input.url).url ?? input.url
    const existing = await selectNewestByUrl(ctx.db, ctx.workspaceId, url, {
      partnerId,
      hiddenFolders: hiddenFolders(ctx),
    })
    const { keyLength, prefix, ...patch } = input
    if (!existing) return createOne(ctx, input)
    return (await presentAll(ctx, [await changeLink(ctx, existing, patch)]))[0] as Link
  })
}

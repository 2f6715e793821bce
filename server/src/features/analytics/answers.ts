import { hash } from 'node:crypto'
import { type Ctx, hasScope } from '../../platform/context.ts'
import { memoByObject, openAsyncMemo } from '../../platform/memo.ts'

const longestMs = 10_000
const timesAsLong = 10
const maxBytes = 32_000_000
const briefMs = 2_000
const briefMaxBytes = 4_000_000

/**
 * Runs and caches an analytics query of a workspace. Concurrent equal queries share one run; its result is cached for
 * ten times the duration of the run, ten seconds at most.
 */
export function cacheAnswer<Answer extends object>(
  ctx: Reader & Pick<Ctx, 'config'>,
  query: object,
  find: () => Promise<Answer>,
): Promise<Answer> {
  return openAnswers(ctx.config)(cacheKey(ctx, query), find)
}

/** Caches the result for two seconds, however fast the query was: every open dashboard asks for the same. */
export function cacheBriefly<Answer extends object>(
  ctx: Reader & Pick<Ctx, 'config'>,
  query: object,
  find: () => Promise<Answer>,
): Promise<Answer> {
  return openBriefAnswers(ctx.config)(cacheKey(ctx, query), find)
}

type Reader = Pick<Ctx, 'workspaceId' | 'plan' | 'actor' | 'folderAccess'>

function cacheKey({ workspaceId, plan, actor, folderAccess }: Reader, query: object): string {
  const parts = Object.entries(query).filter(([, value]) => value !== undefined)
  // `top_partners` shows more to actors that may read partners.
  const reader = [workspaceId, plan, hasScope(actor, 'partners.read'), hashFolders(folderAccess?.hidden ?? [])]
  return JSON.stringify([...reader, parts.sort(([one], [other]) => (one < other ? -1 : 1))])
}

/** Callers with other hidden folders get other counts. */
function hashFolders(hidden: string[]): string {
  return hidden.length === 0 ? '' : hash('sha256', [...hidden].sort().join(), 'base64')
}

const openAnswers = memoByObject((_: Ctx['config']) => {
  return openAsyncMemo({ maxBytes, ttlMs: (_, tookMs) => Math.min(Math.ceil(tookMs * timesAsLong), longestMs) })
})

const openBriefAnswers = memoByObject((_: Ctx['config']) => {
  return openAsyncMemo({ maxBytes: briefMaxBytes, ttlMs: () => briefMs })
})

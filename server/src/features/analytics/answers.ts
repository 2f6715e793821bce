import { type ByteCache, openByteCache } from '../../platform/byte-cache.ts'
import type { Ctx } from '../../platform/context.ts'
import { memoByObject } from '../../platform/memo.ts'

const longestMs = 10_000
const timesAsLong = 10
const maxBytes = 32_000_000

type Memory = { running: Map<string, Promise<object>>; known: ByteCache<object> }

/**
 * The answer to a question of a workspace. While it is being found, all who ask the same wait for it; afterwards it is
 * remembered ten times as long as that took, ten seconds at most.
 */
export async function answerOnce<Answer extends object>(
  ctx: Pick<Ctx, 'config' | 'workspaceId' | 'plan'>,
  question: object,
  find: () => Promise<Answer>,
): Promise<Answer> {
  const { running, known } = openMemory(ctx.config)
  const key = keyOf(ctx, question)
  const answer = known.get(key)
  if (answer) return answer as Answer
  const underWay = running.get(key)
  if (underWay !== undefined) return underWay as Promise<Answer>
  const started = performance.now()
  const finding = find()
    .then((answer) => {
      const ttl = Math.min(Math.ceil((performance.now() - started) * timesAsLong), longestMs)
      known.set(key, answer, { ttl })
      return answer
    })
    .finally(() => running.delete(key))
  running.set(key, finding)
  return finding
}

function keyOf({ workspaceId, plan }: Pick<Ctx, 'workspaceId' | 'plan'>, question: object): string {
  const parts = Object.entries(question).filter(([, value]) => value !== undefined)
  return JSON.stringify([workspaceId, plan, parts.sort(([one], [other]) => (one < other ? -1 : 1))])
}

const openMemory = memoByObject((_: Ctx['config']): Memory => {
  return { running: new Map(), known: openByteCache({ maxBytes, ttlMs: longestMs }) }
})

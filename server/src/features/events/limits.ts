import type { Plan } from '@tributary/contract/operation'
import { isOverLimit, type QueryLimits } from '../../platform/clickhouse.ts'
import type { Ctx } from '../../platform/context.ts'
import { invalid } from '../../platform/errors.ts'

const gibibyte = 2 ** 30
const million = 1_000_000

/** How much one question may take. `rows` is for counting: a list stops when its page is full. */
const limitsOfPlan: Record<Plan, { seconds: number; bytes: number; rows: number }> = {
  free: { seconds: 3, bytes: gibibyte / 2, rows: 20 * million },
  pro: { seconds: 5, bytes: gibibyte / 2, rows: 100 * million },
  business: { seconds: 10, bytes: gibibyte, rows: 500 * million },
  advanced: { seconds: 15, bytes: 2 * gibibyte, rows: 2_000 * million },
  // Less than the time after which we give up waiting.
  enterprise: { seconds: 25, bytes: 4 * gibibyte, rows: 0 },
}

export function limitsOf(plan: Plan, work: 'list' | 'count'): QueryLimits {
  const { seconds, bytes, rows } = limitsOfPlan[plan]
  const limits = { max_execution_time: seconds, max_memory_usage: String(bytes) }
  return work === 'count' ? { ...limits, max_rows_to_read: String(rows) } : limits
}

/** Runs a question within the limits of the plan; one that takes more is cut off, and the client told what to do. */
export async function withinLimits<T>(
  ctx: Pick<Ctx, 'plan'>,
  ask: (limits: QueryLimits) => Promise<T>,
  work: 'list' | 'count' = 'list',
): Promise<T> {
  try {
    return await ask(limitsOf(ctx.plan, work))
  } catch (error) {
    if (!isOverLimit(error)) throw error
    throw invalid(
      `This question takes more than the ${ctx.plan} plan allows for one. Narrow the period (\`interval\`, \`start\`, \`end\`), or ask for single links (\`linkId\`).`,
    )
  }
}

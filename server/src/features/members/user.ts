import type { User } from '@tributary/contract/user'
import { type Ctx, requireUserId } from '../../platform/context.ts'
import { notFound } from '../../platform/errors.ts'
import { usersByIds } from '../auth/service.ts'

export async function getUser(ctx: Ctx): Promise<User> {
  const userId = requireUserId(ctx.actor)
  const found = (await usersByIds(ctx, [userId])).get(userId)
  if (!found) throw notFound('user', userId)
  return { id: found.id, name: found.name, email: found.email, operator: found.isOperator }
}

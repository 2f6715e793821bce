import { z } from 'zod'
import { operation } from './operation.ts'

export const user = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    operator: z.boolean().describe('Whether the user sees the state of the whole installation.'),
  })
  .meta({ id: 'User' })
export type User = z.infer<typeof user>

export const getUser = operation({
  id: 'getUser',
  method: 'get',
  path: '/user',
  summary: 'Get the signed-in user',
  description: 'Returns name and e-mail address of the signed-in user, who changes them at `/account`.',
  tag: 'User',
  actors: ['user'],
  scope: 'preferences.read',
  workspace: 'none',
  response: user,
})

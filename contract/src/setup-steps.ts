import { z } from 'zod'
import { operation } from './operation.ts'

const steps = ['domain', 'link', 'script', 'lead', 'sale'] as const

export const setupStep = z
  .strictObject({
    step: z.enum(steps),
    done: z.boolean().describe('Whether the server has seen it happen.'),
  })
  .meta({ id: 'SetupStep' })
export type SetupStep = z.infer<typeof setupStep>

export const listSetupSteps = operation({
  id: 'listSetupSteps',
  method: 'get',
  path: '/setup-steps',
  summary: 'List the steps to a first tracked sale',
  description:
    'Returns each step in its order, and whether it is done: a verified domain, a link, a page of yours that reported something by the script or with a publishable key (also done with the first lead), a lead, a sale.',
  tag: 'Setup',
  scope: 'workspaces.read',
  response: z.array(setupStep),
})

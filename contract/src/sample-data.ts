import { z } from 'zod'
import { operation } from './operation.ts'

export const sampleData = z
  .strictObject({
    status: z.enum(['none', 'creating', 'ready', 'deleting']),
    progress: z.number().min(0).max(1).describe('Share of the current work that is done.'),
    workspaceId: z.string().nullable().describe('Id of the workspace that has the sample data; null without one.'),
    slug: z.string().nullable().describe('Slug of that workspace.'),
  })
  .meta({ id: 'SampleData' })
export type SampleData = z.infer<typeof sampleData>

export const getSampleData = operation({
  id: 'getSampleData',
  method: 'get',
  path: '/sample-data',
  summary: 'Retrieve the state of the sample data',
  tag: 'Setup',
  scope: 'workspaces.read',
  response: sampleData,
})

export const createSampleData = operation({
  id: 'createSampleData',
  method: 'post',
  path: '/sample-data',
  summary: 'Create sample data',
  description:
    'Creates a second workspace with links, clicks, leads and sales of the last 30 days, and makes you its owner. Figures of your own workspace never include it. A job creates the data within a minute; call it again to join a workspace that exists.',
  tag: 'Setup',
  scope: 'workspaces.write',
  needsUser: true,
  actors: ['key', 'user'],
  status: 202,
  response: sampleData,
})

export const deleteSampleData = operation({
  id: 'deleteSampleData',
  method: 'delete',
  path: '/sample-data',
  summary: 'Delete the sample data',
  description: 'Deletes the workspace with the sample data: links, events, customers and figures. A job erases them.',
  tag: 'Setup',
  scope: 'workspaces.write',
  status: 202,
  response: sampleData,
})

import { z } from 'zod'
import { instant, listing, plainText } from './common.ts'
import { operation } from './operation.ts'
import { label } from './tags.ts'

const screens = ['links', 'analytics', 'events'] as const
const visibilities = ['personal', 'shared'] as const

const screen = z.enum(screens).describe('The screen of the dashboard that shows the view.')
const visibility = z
  .enum(visibilities)
  .describe('`personal`: only you see the view. `shared`: every member of the workspace does.')

const query = z
  .record(z.string().regex(/^[A-Za-z][A-Za-z0-9_.]{0,63}$/), plainText(2_000))
  .refine((query) => Object.keys(query).length <= 50, 'it has more than 50 parameters')
  .refine((query) => JSON.stringify(query).length <= 8_000, 'it is longer than 8,000 characters')
  .describe(
    'Query parameters of the screen by name: filters, period, sort order. At most 50, and 8,000 characters as JSON.',
  )

export const view = z
  .strictObject({
    id: z.string(),
    screen,
    name: z.string(),
    query: z.record(z.string(), z.string()),
    visibility,
    userId: z.string().nullable().describe('The user who created the view; null for a key or a former user.'),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'View' })
export type View = z.infer<typeof view>

const name = label(100).describe('Name, unique among the shared views, or among your own, of a screen; ignoring case.')

export const newView = z
  .object({ screen, name, query, visibility: visibility.default('personal') })
  .meta({ id: 'NewView' })
export type NewView = z.output<typeof newView>

export const viewPatch = z
  .object({ name: name.optional(), query: query.optional(), visibility: visibility.optional() })
  .meta({ id: 'ViewPatch' })
export type ViewPatch = z.infer<typeof viewPatch>

const params = z.object({ id: z.string().describe('Id of the view.') })

export const listViews = operation({
  id: 'listViews',
  method: 'get',
  path: '/views',
  summary: 'List saved views',
  description: 'Lists shared views, and your own personal ones.',
  tag: 'Views',
  scope: 'views.read',
  query: z.object({
    screen: screen.optional(),
    visibility: visibility.optional(),
    ...listing(100, ['name', 'createdAt'], 'asc'),
  }),
  response: z.array(view),
})
export type ViewsQuery = z.output<typeof listViews.query>

export const createView = operation({
  id: 'createView',
  method: 'post',
  path: '/views',
  summary: 'Save a view',
  description: 'Saves the filters of a screen under a name. A personal view needs a user: a session or a personal key.',
  tag: 'Views',
  scope: 'views.write',
  body: newView,
  status: 201,
  response: view,
})

export const updateView = operation({
  id: 'updateView',
  method: 'patch',
  path: '/views/{id}',
  summary: 'Update a saved view',
  description: 'Members change all shared views and their own. Only its creator makes a shared view personal.',
  tag: 'Views',
  scope: 'views.write',
  params,
  body: viewPatch,
  response: view,
})

export const deleteView = operation({
  id: 'deleteView',
  method: 'delete',
  path: '/views/{id}',
  summary: 'Delete a saved view',
  tag: 'Views',
  scope: 'views.write',
  params,
  response: z.strictObject({ id: z.string() }),
})

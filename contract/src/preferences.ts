import { z } from 'zod'
import { plainText } from './common.ts'
import { operation } from './operation.ts'

const reference = plainText(255).min(1).nullable()
const names = (most: number) => z.array(plainText(64).min(1)).max(most)

const themes = ['system', 'light', 'dark'] as const
const languages = ['browser', 'en', 'de'] as const
const densities = ['normal', 'dense'] as const
const layouts = ['table', 'cards'] as const

export const preferenceScreens = ['links', 'analytics', 'events', 'customers', 'partners', 'commissions'] as const

/** The fields of one screen; without `columns`, the screen shows its default columns. */
const screen = {
  columns: names(100).nullable().describe('Names of the shown columns, in their order; null for the default columns.'),
  layout: z.enum(layouts),
  pageSize: z.number().int().min(10).max(100),
  viewId: reference.describe('Id of the saved view that the screen opens with.'),
}

/** The values of a new link that the builder begins with. */
const builder = {
  domain: reference,
  folderId: reference,
  tagIds: z.array(plainText(255).min(1)).max(100),
  utmTemplateId: reference,
  trackConversion: z.boolean().nullable().describe("Null for the workspace's default."),
  openSections: names(20).describe('Sections of the builder that are open.'),
}

const appearance = {
  theme: z.enum(themes),
  language: z.enum(languages).describe('`browser` follows the browser.'),
  density: z.enum(densities),
  dismissedHints: names(100).describe('Hints that the user has closed.'),
}

const defaultScreen: z.infer<z.ZodObject<typeof screen>> = {
  columns: null,
  layout: 'table',
  pageSize: 50,
  viewId: null,
}

export const defaultPreferences: Preferences = {
  theme: 'system',
  language: 'browser',
  density: 'normal',
  dismissedHints: [],
  screens: Object.fromEntries(preferenceScreens.map((name) => [name, defaultScreen])) as Preferences['screens'],
  builder: { domain: null, folderId: null, tagIds: [], utmTemplateId: null, trackConversion: null, openSections: [] },
}

function byScreen<Shape extends z.ZodType>(shape: Shape) {
  return Object.fromEntries(preferenceScreens.map((name) => [name, shape])) as Record<
    (typeof preferenceScreens)[number],
    Shape
  >
}

export const preferences = z
  .strictObject({
    ...appearance,
    screens: z.strictObject(byScreen(z.strictObject(screen).meta({ id: 'ScreenPreferences' }))),
    builder: z.strictObject(builder),
  })
  .meta({ id: 'Preferences' })
export type Preferences = z.infer<typeof preferences>

export const preferencesPatch = z
  .strictObject({
    ...appearance,
    screens: z.strictObject(byScreen(z.strictObject(screen).partial().optional())),
    builder: z.strictObject(builder).partial(),
  })
  .partial()
  .meta({ id: 'PreferencesPatch' })
export type PreferencesPatch = z.infer<typeof preferencesPatch>

export const getPreferences = operation({
  id: 'getPreferences',
  method: 'get',
  path: '/preferences',
  summary: 'Retrieve your preferences',
  description: 'Returns what you chose in the dashboard of this workspace; defaults for everything else.',
  tag: 'Preferences',
  scope: 'preferences.read',
  needsUser: true,
  actors: ['key', 'user'],
  response: preferences,
})

export const updatePreferences = operation({
  id: 'updatePreferences',
  method: 'patch',
  path: '/preferences',
  summary: 'Update your preferences',
  description: 'Changes the given fields of each object; lists are replaced.',
  tag: 'Preferences',
  scope: 'preferences.write',
  needsUser: true,
  actors: ['key', 'user'],
  body: preferencesPatch,
  response: preferences,
})

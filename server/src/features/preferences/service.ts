import {
  defaultPreferences,
  type Preferences,
  type PreferencesPatch,
  preferences,
} from '@tributary/contract/preferences'
import { type Ctx, requireUserId } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { lockResource } from '../workspaces/service.ts'
import { selectPreferences, upsertPreferences } from './store.ts'

export async function getPreferences(ctx: Ctx): Promise<Preferences> {
  const userId = requireUserId(ctx.actor)
  return readStored(await selectPreferences(ctx.db, ctx.workspaceId, userId))
}

export async function updatePreferences(ctx: Ctx, patch: PreferencesPatch): Promise<Preferences> {
  const userId = requireUserId(ctx.actor)
  return transaction(ctx, async (ctx) => {
    // Two tabs change different fields at the same time.
    await lockResource(ctx, `${ctx.workspaceId} ${userId}`, 'preferences')
    const before = readStored(await selectPreferences(ctx.db, ctx.workspaceId, userId))
    const after = merge(before, patch)
    reportChange(ctx, { id: userId, before, after })
    await upsertPreferences(ctx.db, ctx.workspaceId, userId, after)
    return after
  })
}

/** Fields that another version stored, or that are not valid now, have their defaults. */
function readStored(stored: unknown): Preferences {
  const merged = merge(defaultPreferences, onlyKnown(defaultPreferences, stored))
  const parsed = preferences.safeParse(merged)
  return parsed.success ? parsed.data : defaultPreferences
}

type Fields = Record<string, unknown>

function onlyKnown(known: object, stored: unknown): Fields {
  if (!isObject(stored)) return {}
  return Object.fromEntries(
    Object.entries(known).flatMap(([name, value]) => {
      const found = stored[name]
      if (found === undefined) return []
      return [[name, isObject(value) ? onlyKnown(value, found) : found]]
    }),
  )
}

/** Replaces the given fields of each object. */
function merge<Value extends object>(value: Value, patch: object): Value {
  const given = Object.entries(patch).filter(([, field]) => field !== undefined)
  const fields = value as Fields
  const changed = given.map(([name, field]) => {
    const current = fields[name]
    return [name, isObject(field) && isObject(current) ? merge(current, field) : field]
  })
  return { ...value, ...Object.fromEntries(changed) }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

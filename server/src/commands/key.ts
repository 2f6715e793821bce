import { type Scope, scopes } from '@tributary/contract/permissions'
import { mostOverlapHours } from '@tributary/contract/tokens'
import { defineCommand } from 'citty'
import { rotateKey } from '../features/tokens/manage.ts'
import { createToken, listTokens, requireToken, revoke, type Token } from '../features/tokens/service.ts'
import { requireWorkspace } from '../features/workspaces/service.ts'
import { systemClock } from '../platform/clock.ts'
import { systemActor } from '../platform/context.ts'
import { invalid } from '../platform/errors.ts'
import { jsonFlag, onChange, onDatabases, print, table } from './run.ts'

const storeHint = "Store this key now: the server keeps only its hash and can't show it again."
const publicHint = 'Put this key in your pages: it is not secret. It works on the allowed hostnames of the workspace.'

const workspaceArgument = {
  workspace: { type: 'positional', description: 'Id or slug of the workspace', required: true },
} as const

const create = defineCommand({
  meta: { name: 'create', description: 'Create an API key; it is shown only once' },
  args: {
    ...workspaceArgument,
    name: { type: 'string', description: 'Name of the key, such as its purpose', default: 'API key' },
    scopes: { type: 'string', description: `Comma-separated scopes: ${scopes.join(', ')}`, default: 'apis.all' },
    publishable: {
      type: 'boolean',
      description: 'Create a public key for web pages: it can only report leads and sales, from allowed hostnames',
      default: false,
    },
    expires: { type: 'string', description: 'Expiry date, such as 2027-01-31' },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onChange({ command: 'key create', json: args.json }, async (handles) => {
      const workspace = await requireWorkspace(handles, args.workspace)
      const token = await createToken(handles, {
        workspaceId: workspace.id,
        name: args.name,
        isPublishable: args.publishable,
        scopes: parseScopes(args.scopes),
        expiresAt: args.expires === undefined ? undefined : parseDate(args.expires),
      })
      const { name, scopes, expiresAt } = shown(token)
      return {
        ...changed(token),
        details: { name, scopes, expiresAt, isPublishable: args.publishable },
        value: { ...shown(token), key: token.key },
        text: `${token.key}\n${args.publishable ? publicHint : storeHint}`,
      }
    }),
})

const list = defineCommand({
  meta: { name: 'list', description: 'List the API keys of a workspace' },
  args: { ...workspaceArgument, ...jsonFlag },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const workspace = await requireWorkspace(handles, args.workspace)
      const tokens = (await listTokens(handles, workspace.id)).map(shown)
      const rows = tokens.map((token) => ({ ...token, scopes: token.scopes.join(',') }))
      print(args.json, tokens, rows.length ? table(rows) : `No keys yet. Next: tributary key create ${workspace.slug}`)
    }),
})

const rotate = defineCommand({
  meta: { name: 'rotate', description: 'Create a key that replaces another; both work for some hours' },
  args: {
    id: { type: 'positional', description: 'Id of the API key', required: true },
    'overlap-hours': {
      type: 'string',
      description: `Hours for which the old key continues to work, at most ${mostOverlapHours}; 0 revokes it at once`,
      default: '24',
    },
    expires: { type: 'string', description: 'Expiry date of the new key; that of the old key when omitted' },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onChange({ command: 'key rotate', json: args.json }, async (handles) => {
      const overlapHours = parseHours(args['overlap-hours'])
      const expiresAt = args.expires === undefined ? undefined : parseDate(args.expires).toISOString()
      const { id, workspace_id: workspaceId } = await requireToken(handles, args.id)
      const ctx = { ...handles, now: systemClock, actor: systemActor, workspaceId }
      const { key, ...made } = await rotateKey(ctx, id, { overlapHours, ...(expiresAt && { expiresAt }) })
      const [old, token] = [await requireToken(handles, id), await requireToken(handles, made.id)]
      const ends = old.revoked_at ? 'is revoked' : `works until ${old.expires_at?.toISOString()}`
      return {
        workspaceId,
        target: { kind: 'tokens', ids: [id, made.id] },
        details: { replacedBy: made.id, overlapHours, expiresAt: shown(token).expiresAt },
        value: { ...shown(token), key, replaces: shown(old) },
        text: `${key}\n${storeHint}\nThe old key ${shown(old).key} ${ends}.`,
      }
    }),
})

const revokeKey = defineCommand({
  meta: { name: 'revoke', description: 'Revoke an API key; takes effect within a second' },
  args: { id: { type: 'positional', description: 'Id of the API key', required: true }, ...jsonFlag },
  run: ({ args }) =>
    onChange({ command: 'key revoke', json: args.json }, async (handles) => {
      const token = await revoke(handles, args.id)
      return { ...changed(token), value: shown(token), text: `Revoked ${token.prefix}…${token.last_four}.` }
    }),
})

export const key = defineCommand({
  meta: { name: 'key', description: 'Create, list, rotate and revoke API keys' },
  subCommands: { create, list, rotate, revoke: revokeKey },
})

function parseScopes(text: string): Scope[] {
  const asked = text.split(',').map((scope) => scope.trim())
  const unknown = asked.filter((scope) => !scopes.includes(scope as Scope))
  if (unknown.length > 0) throw invalid(`There is no scope ${unknown.join(', ')}. Allowed: ${scopes.join(', ')}.`)
  return asked as Scope[]
}

function parseDate(text: string): Date {
  const date = new Date(text)
  if (Number.isNaN(date.getTime())) throw invalid(`--expires ${text} is not a date. Write it as 2027-01-31.`)
  return date
}

function parseHours(text: string): number {
  const hours = Number(text)
  if (text.trim() !== '' && hours >= 0 && hours <= mostOverlapHours) return hours
  throw invalid(`--overlap-hours ${text} is not a number of hours from 0 to ${mostOverlapHours}.`)
}

function changed({ id, workspace_id }: Token) {
  return { workspaceId: workspace_id, target: { kind: 'tokens', ids: [id] } }
}

function shown(token: Token) {
  return {
    id: token.id,
    name: token.name,
    key: `${token.prefix}…${token.last_four}`,
    scopes: token.scopes,
    expiresAt: token.expires_at?.toISOString() ?? '',
    revokedAt: token.revoked_at?.toISOString() ?? '',
    lastUsedAt: token.last_used_at?.toISOString() ?? '',
    createdAt: token.created_at.toISOString(),
  }
}

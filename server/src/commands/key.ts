import { type Scope, scopes } from '@tributary/contract/operation'
import { defineCommand } from 'citty'
import { createToken, listTokens, revoke, type Token } from '../features/tokens/service.ts'
import { requireWorkspace } from '../features/workspaces/service.ts'
import { invalid } from '../platform/errors.ts'
import { jsonFlag, onChange, onDatabases, print, table } from './run.ts'

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
        text: `${token.key}\n${args.publishable ? publicHint : "Store this key now: the server keeps only its hash and can't show it again."}`,
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
  meta: { name: 'key', description: 'Create, list and revoke API keys' },
  subCommands: { create, list, revoke: revokeKey },
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

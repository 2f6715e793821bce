import { type Plan, plans } from '@tributary/contract/operation'
import { defineCommand } from 'citty'
import { z } from 'zod'
import { findUserByEmail } from '../features/auth/service.ts'
import { addMember } from '../features/members/service.ts'
import {
  changeWorkspace,
  createWorkspace,
  hostnamesIn,
  type IpStorage,
  listWorkspaces,
  type Workspace,
  type WorkspaceChanges,
} from '../features/workspaces/service.ts'
import { AppError, invalid } from '../platform/errors.ts'
import type { Db } from '../platform/postgres.ts'
import { settings } from '../platform/settings.ts'
import { jsonFlag, onChange, onDatabases, print, table } from './run.ts'

const ipStorages = settings.IP_STORAGE.type.options

const create = defineCommand({
  meta: { name: 'create', description: 'Create a workspace' },
  args: {
    name: { type: 'positional', description: 'Its name', required: true },
    slug: { type: 'string', description: 'Short name for URLs; derived from the name when omitted' },
    plan: { type: 'enum', options: [...plans], description: 'Plan of the workspace; DEFAULT_PLAN when omitted' },
    owner: { type: 'string', description: 'E-mail address of the user who becomes its owner' },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onChange({ command: 'workspace create', json: args.json }, async (handles) => {
      const owner = args.owner === undefined ? undefined : await requireUser(handles, args.owner)
      const plan = args.plan as Plan | undefined
      const workspace = await createWorkspace(handles, { name: args.name, slug: args.slug, plan })
      if (owner) await addMember({ db: handles.db, workspaceId: workspace.id }, owner.id, 'owner')
      const text = `Created workspace ${workspace.slug} (${workspace.id}) on the ${workspace.plan} plan.\nNext: tributary key create ${workspace.slug}`
      const { id, name, slug } = workspace
      const details = { name, slug, plan: workspace.plan, ...(owner && { ownerId: owner.id }) }
      return { workspaceId: id, target: { kind: 'workspaces', ids: [id] }, details, value: shown(workspace), text }
    }),
})

const list = defineCommand({
  meta: { name: 'list', description: 'List all workspaces' },
  args: jsonFlag,
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const workspaces = (await listWorkspaces(handles)).map(shown)
      print(
        args.json,
        workspaces,
        workspaces.length ? table(workspaces) : 'No workspaces yet. Next: tributary workspace create <name>',
      )
    }),
})

const set = defineCommand({
  meta: { name: 'set', description: 'Change settings of a workspace' },
  args: {
    workspace: { type: 'positional', description: 'Id or slug of the workspace', required: true },
    plan: { type: 'enum', options: [...plans], description: 'Plan of the workspace; takes effect within a second' },
    'ip-storage': {
      type: 'enum',
      options: [...ipStorages, 'default'],
      description: "How much of a visitor's IP address is stored; `default` is IP_STORAGE",
    },
    currency: { type: 'string', description: 'Currency that new sales are converted to, such as usd' },
    'attribution-days': { type: 'string', description: 'Maximum age in days of a click that a lead is attributed to' },
    'attribution-model': {
      type: 'enum',
      options: ['first-click', 'last-click'],
      description: 'Which click of a customer a lead is attributed to',
    },
    'allowed-hostnames': {
      type: 'string',
      description: 'Hostnames whose pages may report events, such as example.com,*.example.com; `any` allows all',
    },
    'contact-email': {
      type: 'string',
      description: 'Recipient of e-mails about this workspace, such as a disabled webhook; `none` for nobody',
    },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onChange({ command: 'workspace set', json: args.json }, async (handles) => {
      const changes = settingsIn(args)
      const named = Object.keys(changes)
      if (named.length === 0) throw invalid('Choose a setting to change, such as --ip-storage none. See --help.')
      const workspace = await changeWorkspace(handles, args.workspace, changes)
      const { id, slug } = workspace
      const text = `Changed ${slug}:\n${table([shown(workspace)])}`
      const target = { kind: 'workspaces', ids: [id] }
      return { workspaceId: id, target, details: changes, value: shown(workspace), text }
    }),
})

async function requireUser(handles: { db: Db }, email: string) {
  const user = await findUserByEmail(handles, email)
  if (user) return user
  throw new AppError('not_found', `There is no user ${email}. Next: tributary user create ${email}`)
}

function settingsIn(args: Record<string, unknown>): WorkspaceChanges {
  const ipStorage = args['ip-storage'] as IpStorage | 'default' | undefined
  const days = args['attribution-days'] === undefined ? undefined : Number(args['attribution-days'])
  const currency = (args.currency as string | undefined)?.toLowerCase()
  const hostnames = args['allowed-hostnames'] as string | undefined
  const model = args['attribution-model'] as Workspace['attribution_model'] | undefined
  if (days !== undefined && !(Number.isInteger(days) && days >= 1 && days <= 3650)) {
    throw invalid('--attribution-days must be a whole number from 1 to 3650.')
  }
  if (currency !== undefined && !/^[a-z]{3}$/.test(currency)) {
    throw invalid('--currency must be a code of three letters, such as usd or eur.')
  }
  const email = args['contact-email'] as string | undefined
  if (email !== undefined && email !== 'none' && !z.email().max(254).safeParse(email).success) {
    throw invalid('--contact-email must be an e-mail address such as ops@example.com, or none.')
  }
  const plan = args.plan as Plan | undefined
  return {
    ...(plan && { plan }),
    ...(ipStorage && { ip_storage: ipStorage === 'default' ? null : ipStorage }),
    ...(currency && { currency }),
    ...(days && { attribution_days: days }),
    ...(model && { attribution_model: model }),
    ...(hostnames !== undefined && { allowed_hostnames: hostnamesIn(hostnames) }),
    ...(email !== undefined && { contact_email: email === 'none' ? null : email }),
  }
}

export const workspace = defineCommand({
  meta: { name: 'workspace', description: 'Create, list and change workspaces' },
  subCommands: { create, list, set },
})

function shown(workspace: Workspace) {
  const { id, name, slug, plan, currency, created_at } = workspace
  return {
    id,
    slug,
    name,
    plan,
    ipStorage: workspace.ip_storage ?? 'default',
    currency,
    allowedHostnames: workspace.allowed_hostnames.join(',') || 'any',
    contactEmail: workspace.contact_email ?? 'none',
    attribution: `${workspace.attribution_model}, ${workspace.attribution_days} days`,
    createdAt: created_at.toISOString(),
  }
}

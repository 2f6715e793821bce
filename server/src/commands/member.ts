import { type Role, roles } from '@tributary/contract/permissions'
import { defineCommand } from 'citty'
import { findUserByEmail } from '../features/auth/service.ts'
import { addMember, endMembership, listEveryone } from '../features/members/service.ts'
import { requireWorkspace } from '../features/workspaces/service.ts'
import { AppError, conflict } from '../platform/errors.ts'
import type { Db } from '../platform/postgres.ts'
import { jsonFlag, onChange, onDatabases, print, table } from './run.ts'

const workspaceArgument = {
  workspace: { type: 'positional', description: 'Id or slug of the workspace', required: true },
} as const
const emailArgument = {
  email: { type: 'positional', description: 'E-mail address of the user', required: true },
} as const

const add = defineCommand({
  meta: { name: 'add', description: 'Add a user to a workspace, without an invite' },
  args: {
    ...workspaceArgument,
    ...emailArgument,
    role: { type: 'enum', options: [...roles], description: 'Role of the member', default: 'member' },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onChange({ command: 'member add', json: args.json }, async ({ db }) => {
      const workspace = await requireWorkspace({ db }, args.workspace)
      const user = await requireUser(db, args.email)
      const role = args.role as Role
      if (!(await addMember({ db, workspaceId: workspace.id }, user.id, role))) {
        throw conflict(`${user.email} is a member of ${workspace.slug} already.`)
      }
      return {
        ...changed(workspace.id, user.id),
        details: { role },
        value: { workspace: workspace.slug, userId: user.id, email: user.email, role },
        text: `Added ${user.email} to ${workspace.slug} as ${role}.`,
      }
    }),
})

const list = defineCommand({
  meta: { name: 'list', description: 'List the members of a workspace' },
  args: { ...workspaceArgument, ...jsonFlag },
  run: ({ args }) =>
    onDatabases(async ({ db }) => {
      const workspace = await requireWorkspace({ db }, args.workspace)
      const members = await listEveryone({ db, workspaceId: workspace.id })
      const rows = members.map(({ userId, email, role, createdAt }) => ({ userId, email, role, createdAt }))
      const hint = `No members yet. Next: tributary member add ${workspace.slug} <e-mail> --role owner`
      print(args.json, rows, rows.length > 0 ? table(rows) : hint)
    }),
})

const remove = defineCommand({
  meta: { name: 'remove', description: 'Remove a member and their personal keys; takes effect within a second' },
  args: { ...workspaceArgument, ...emailArgument, ...jsonFlag },
  run: ({ args }) =>
    onChange({ command: 'member remove', json: args.json }, async ({ db }) => {
      const workspace = await requireWorkspace({ db }, args.workspace)
      const user = await requireUser(db, args.email)
      await endMembership({ db, workspaceId: workspace.id }, user.id)
      const text = `Removed ${user.email} from ${workspace.slug}.`
      return { ...changed(workspace.id, user.id), value: { userId: user.id }, text }
    }),
})

export const member = defineCommand({
  meta: { name: 'member', description: 'Add, list and remove members of a workspace' },
  subCommands: { add, list, remove },
})

function changed(workspaceId: string, userId: string) {
  return { workspaceId, target: { kind: 'members', ids: [userId] } }
}

async function requireUser(db: Db, email: string) {
  const user = await findUserByEmail({ db }, email)
  if (user) return user
  throw new AppError('not_found', `There is no user ${email}. Next: tributary user create ${email}`)
}

import { type Plan, plans } from '@tributary/contract/operation'
import { defineCommand } from 'citty'
import { createWorkspace, listWorkspaces, type Workspace } from '../features/workspaces/service.ts'
import { jsonFlag, onDatabases, print, table } from './run.ts'

const create = defineCommand({
  meta: { name: 'create', description: 'Create a workspace' },
  args: {
    name: { type: 'positional', description: 'Its name', required: true },
    slug: { type: 'string', description: 'Short name for addresses; made from the name when omitted' },
    plan: { type: 'enum', options: [...plans], description: 'Plan; DEFAULT_PLAN when omitted' },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const workspace = await createWorkspace(handles, {
        name: args.name,
        slug: args.slug,
        plan: args.plan as Plan | undefined,
      })
      const text = `Created workspace ${workspace.slug} (${workspace.id}) on the ${workspace.plan} plan.\nNext: tributary key create ${workspace.slug}`
      print(args.json, shown(workspace), text)
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
        workspaces.length ? table(workspaces) : 'None yet. Next: tributary workspace create <name>',
      )
    }),
})

export const workspace = defineCommand({
  meta: { name: 'workspace', description: 'Create and list workspaces' },
  subCommands: { create, list },
})

function shown({ id, name, slug, plan, created_at }: Workspace) {
  return { id, slug, name, plan, createdAt: created_at.toISOString() }
}

import { defineCommand } from 'citty'
import { addDomain } from '../features/domains/service.ts'
import { requireWorkspace } from '../features/workspaces/service.ts'
import { jsonFlag, onDatabases, print } from './run.ts'

const add = defineCommand({
  meta: { name: 'add', description: 'Give a workspace a domain for its short links' },
  args: {
    workspace: { type: 'positional', description: 'Id or slug of the workspace', required: true },
    slug: { type: 'positional', description: 'Host name, such as go.example.com', required: true },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const workspace = await requireWorkspace(handles, args.workspace)
      const domain = await addDomain(handles, { workspaceId: workspace.id, slug: args.slug })
      const value = { id: domain.id, slug: domain.slug, primary: domain.is_primary, verified: domain.verified }
      print(
        args.json,
        value,
        `Added ${domain.slug}${domain.is_primary ? ' as the primary domain' : ''} of ${workspace.slug}.`,
      )
    }),
})

export const domain = defineCommand({
  meta: { name: 'domain', description: 'Add domains' },
  subCommands: { add },
})

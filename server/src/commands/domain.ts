import { defineCommand } from 'citty'
import { deleteDomain } from '../features/domains/change.ts'
import { addDomain, type Domain, listDomains, verifyDomain } from '../features/domains/service.ts'
import { requireWorkspace } from '../features/workspaces/service.ts'
import { systemClock } from '../platform/clock.ts'
import { jsonFlag, onChange, onDatabases, print, recordCommand, table } from './run.ts'

const workspaceArgument = {
  workspace: { type: 'positional', description: 'Id or slug of the workspace', required: true },
} as const
const slugArgument = {
  slug: { type: 'positional', description: 'Host name, such as go.example.com', required: true },
} as const

const add = defineCommand({
  meta: { name: 'add', description: 'Add a domain for the short links of a workspace, without proof of ownership' },
  args: { ...workspaceArgument, ...slugArgument, ...jsonFlag },
  run: ({ args }) =>
    onChange({ command: 'domain add', json: args.json }, async (handles) => {
      const workspace = await requireWorkspace(handles, args.workspace)
      const domain = await addDomain(handles, { workspaceId: workspace.id, slug: args.slug })
      return {
        ...changed(workspace.id, domain.id, domain.slug),
        value: shown(domain),
        text: `Added ${domain.slug}${domain.is_primary ? ' as the primary domain' : ''} of ${workspace.slug}.`,
      }
    }),
})

const list = defineCommand({
  meta: { name: 'list', description: 'List the domains of a workspace' },
  args: { ...workspaceArgument, ...jsonFlag },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const workspace = await requireWorkspace(handles, args.workspace)
      const domains = await listDomains(
        { ...handles, now: systemClock, workspaceId: workspace.id },
        { archived: true, sortBy: 'createdAt', sortOrder: 'asc', page: 1, pageSize: 10_000 },
      )
      const rows = domains.map(({ id, slug, primary, verified, archived }) => ({
        id,
        slug,
        primary,
        verified,
        archived,
      }))
      const lines = rows.map((row) => ({
        id: row.id,
        slug: row.slug,
        primary: yesOrNo(row.primary),
        verified: yesOrNo(row.verified),
        archived: yesOrNo(row.archived),
      }))
      print(
        args.json,
        rows,
        rows.length ? table(lines) : `No domains yet. Next: tributary domain add ${workspace.slug} <host name>`,
      )
    }),
})

const verify = defineCommand({
  meta: { name: 'verify', description: 'Verify a domain by its DNS records; exit code 1 when it is not verified' },
  args: {
    ...workspaceArgument,
    ...slugArgument,
    trust: { type: 'boolean', description: 'Mark the domain as verified without DNS', default: false },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const workspace = await requireWorkspace(handles, args.workspace)
      const ctx = { ...handles, now: systemClock, workspaceId: workspace.id }
      // Not in one transaction, because the check asks DNS.
      const domain = await verifyDomain(ctx, args.slug, args.trust)
      await recordCommand(handles, 'domain verify', changed(workspace.id, domain.id, domain.slug))
      const state = `${domain.slug} is ${domain.verified ? '' : 'not '}verified`
      print(args.json, { ...shown(domain), result: domain.check_result }, `${state}: ${domain.check_result}.`)
      if (!domain.verified) process.exitCode = 1
    }),
})

const remove = defineCommand({
  meta: { name: 'remove', description: 'Remove a domain and all its links from a workspace' },
  args: { ...workspaceArgument, ...slugArgument, ...jsonFlag },
  run: ({ args }) =>
    onChange({ command: 'domain remove', json: args.json }, async (handles) => {
      const workspace = await requireWorkspace(handles, args.workspace)
      const removed = await deleteDomain({ ...handles, now: systemClock, workspaceId: workspace.id }, args.slug)
      const text = `Removed ${removed.slug} from ${workspace.slug}.`
      return { ...changed(workspace.id, removed.slug, removed.slug), value: removed, text }
    }),
})

export const domain = defineCommand({
  meta: { name: 'domain', description: 'Add, list, verify and remove domains' },
  subCommands: { add, list, verify, remove },
})

function changed(workspaceId: string, id: string, slug: string) {
  return { workspaceId, target: { kind: 'domains', ids: [id] }, details: { slug } }
}

function shown(domain: Domain) {
  return { id: domain.id, slug: domain.slug, primary: domain.is_primary, verified: domain.verified }
}

function yesOrNo(value: boolean): string {
  return value ? 'yes' : 'no'
}

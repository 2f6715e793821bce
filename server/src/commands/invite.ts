import { defineCommand } from 'citty'
import { issueInviteLink } from '../features/invites/service.ts'
import { jsonFlag, onChange } from './run.ts'

const link = defineCommand({
  meta: { name: 'link', description: 'Print a new link of an open invite; the former link stops working' },
  args: { id: { type: 'positional', description: 'Id of the invite', required: true }, ...jsonFlag },
  run: ({ args }) =>
    onChange({ command: 'invite link', json: args.json }, async (handles) => {
      const { link, email, expiresAt, workspaceId } = await issueInviteLink(handles, args.id)
      const until = expiresAt.toISOString()
      const text = `${link}\nIt works once, for ${email}, until ${until}.`
      const target = { kind: 'invites', ids: [args.id] }
      return { workspaceId, target, value: { link, email, expiresAt: until }, text }
    }),
})

export const invite = defineCommand({
  meta: { name: 'invite', description: 'Print links of invites, for installations without a mail server' },
  subCommands: { link },
})

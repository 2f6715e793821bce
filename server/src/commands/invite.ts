import { defineCommand } from 'citty'
import { issueInviteLink } from '../features/invites/service.ts'
import { jsonFlag, onDatabases, print } from './run.ts'

const link = defineCommand({
  meta: { name: 'link', description: 'Print a new link of an open invite; the former link stops working' },
  args: { id: { type: 'positional', description: 'Id of the invite', required: true }, ...jsonFlag },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const { link, email, expiresAt } = await issueInviteLink(handles, args.id)
      const until = expiresAt.toISOString()
      print(args.json, { link, email, expiresAt: until }, `${link}\nIt works once, for ${email}, until ${until}.`)
    }),
})

export const invite = defineCommand({
  meta: { name: 'invite', description: 'Print links of invites, for installations without a mail server' },
  subCommands: { link },
})

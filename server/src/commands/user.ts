import { defineCommand } from 'citty'
import {
  addUser,
  listUsers,
  makeSetupLink,
  makeSignInLink,
  resetUser,
  setDisabled,
} from '../features/auth/administration.ts'
import type { User } from '../features/auth/service.ts'
import { jsonFlag, onDatabases, print, table } from './run.ts'

const emailArgument = {
  email: { type: 'positional', description: 'E-mail address of the user', required: true },
} as const

const create = defineCommand({
  meta: { name: 'create', description: 'Create a user; without a password, also prints a sign-in link' },
  args: {
    ...emailArgument,
    name: { type: 'string', description: 'Name of the user; by default, the part before the @' },
    password: { type: 'string', description: 'Password; it stays in the history of your shell, so prefer the link' },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const { email, password, name = email.split('@')[0] ?? '' } = args
      const user = await addUser(handles, { email, name, ...(password && { password }) })
      const link = password ? undefined : await makeSignInLink(handles, email)
      const text = link ? `\nTo sign in, open this link within an hour. It works once:\n${link}` : ''
      print(args.json, { ...shown(user), ...(link && { link }) }, `Created ${user.email}.${text}`)
    }),
})

const list = defineCommand({
  meta: { name: 'list', description: 'List users' },
  args: jsonFlag,
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const users = (await listUsers(handles)).map(shown)
      const none = 'No users yet. Next: tributary user setup-link'
      print(args.json, users, users.length > 0 ? table(users) : none)
    }),
})

const link = defineCommand({
  meta: { name: 'link', description: 'Print a link that signs a user in once, within an hour' },
  args: { ...emailArgument, ...jsonFlag },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const url = await makeSignInLink(handles, args.email)
      print(args.json, { link: url }, url)
    }),
})

const reset = defineCommand({
  meta: { name: 'reset', description: "End a user's sessions and print a link for a new password" },
  args: {
    ...emailArgument,
    'second-factor': {
      type: 'boolean',
      description: 'Also remove the authenticator app, recovery codes and passkeys',
      default: false,
    },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const url = await resetUser(handles, args.email, { secondFactor: args['second-factor'] })
      print(args.json, { link: url }, url)
    }),
})

function switchCommand(name: 'disable' | 'enable', description: string) {
  return defineCommand({
    meta: { name, description },
    args: { ...emailArgument, ...jsonFlag },
    run: ({ args }) =>
      onDatabases(async (handles) => {
        const user = await setDisabled(handles, args.email, name === 'disable')
        print(args.json, shown(user), `${name === 'disable' ? 'Disabled' : 'Enabled'} ${user.email}.`)
      }),
  })
}

const setupLink = defineCommand({
  meta: { name: 'setup-link', description: 'Print a link to create the first user, valid for a day' },
  args: jsonFlag,
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const url = await makeSetupLink(handles)
      print(args.json, { link: url }, url)
    }),
})

export const user = defineCommand({
  meta: { name: 'user', description: 'Create, list, disable and help users' },
  subCommands: {
    create,
    list,
    link,
    reset,
    disable: switchCommand('disable', "End a user's sessions and refuse to sign them in"),
    enable: switchCommand('enable', 'Let a disabled user sign in again'),
    'setup-link': setupLink,
  },
})

function shown(user: User) {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    secondFactor: user.hasSecondFactor ? 'yes' : 'no',
    disabledAt: user.disabledAt?.toISOString() ?? '',
    createdAt: user.createdAt.toISOString(),
  }
}

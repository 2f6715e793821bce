import { defineCommand } from 'citty'
import {
  addUser,
  listUsers,
  makeSetupLink,
  makeSignInLink,
  preparePassword,
  resetUser,
  setDisabled,
  setOperator,
} from '../features/auth/administration.ts'
import { findUserByEmail, type User } from '../features/auth/service.ts'
import { revokePersonalKeys } from '../features/tokens/service.ts'
import { invalid } from '../platform/errors.ts'
import { jsonFlag, onChange, onDatabases, print, reportProblems, table } from './run.ts'

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
    reportProblems(async () => {
      const { email, password, name = email.split('@')[0] ?? '' } = args
      const hash = password && (await preparePassword({ email, name, password }))
      await onChange({ command: 'user create', json: args.json }, async (handles) => {
        const user = await addUser(handles, { email, name, ...(hash && { hash }) })
        const link = hash ? undefined : await makeSignInLink(handles, email)
        const text = link ? `\nTo sign in, open this link within an hour. It works once:\n${link}` : ''
        const value = { ...shown(user), ...(link && { link }) }
        return { ...changed(user), details: { email: user.email, name }, value, text: `Created ${user.email}.${text}` }
      })
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
    onChange({ command: 'user link', json: args.json }, async (handles) => {
      const url = await makeSignInLink(handles, args.email)
      return { ...changed(await findUserByEmail(handles, args.email)), value: { link: url }, text: url }
    }),
})

const reset = defineCommand({
  meta: {
    name: 'reset',
    description: "End a user's sessions, passkeys and personal API keys, and print a link for a new password",
  },
  args: {
    ...emailArgument,
    'second-factor': {
      type: 'boolean',
      description: 'Also remove the authenticator app and recovery codes',
      default: false,
    },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onChange({ command: 'user reset', json: args.json }, async (handles) => {
      const secondFactor = args['second-factor']
      const { userId, link, passkeys } = await resetUser(handles, args.email, { secondFactor })
      const keys = await revokePersonalKeys(handles, userId)
      const text = `Ended all sessions, removed ${passkeys} passkeys and revoked ${keys} personal keys.\n${link}`
      const target = { kind: 'account', ids: [userId] }
      return { target, details: { secondFactor, passkeys, keys }, value: { link, passkeys, keys }, text }
    }),
})

function switchCommand(name: 'disable' | 'enable', description: string) {
  return defineCommand({
    meta: { name, description },
    args: { ...emailArgument, ...jsonFlag },
    run: ({ args }) =>
      onChange({ command: `user ${name}`, json: args.json }, async (handles) => {
        const user = await setDisabled(handles, args.email, name === 'disable')
        const text = `${name === 'disable' ? 'Disabled' : 'Enabled'} ${user.email}.`
        return { ...changed(user), value: shown(user), text }
      }),
  })
}

const operator = defineCommand({
  meta: { name: 'operator', description: 'Let a user see the state of the whole installation (on), or not (off)' },
  args: {
    ...emailArgument,
    switch: { type: 'positional', description: 'on or off', required: true },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onChange({ command: `user operator ${args.switch === 'on' ? 'on' : 'off'}`, json: args.json }, async (handles) => {
      if (args.switch !== 'on' && args.switch !== 'off') throw invalid(`Write on or off, not ${args.switch}.`)
      const user = await setOperator(handles, args.email, args.switch === 'on')
      const text = `${user.email} is ${user.isOperator ? 'an operator now' : 'no longer an operator'}.`
      return { ...changed(user), value: shown(user), text }
    }),
})

const setupLink = defineCommand({
  meta: { name: 'setup-link', description: 'Print a link to create the first user, valid for a day' },
  args: jsonFlag,
  run: ({ args }) =>
    onChange({ command: 'user setup-link', json: args.json }, async (handles) => {
      const url = await makeSetupLink(handles)
      return { ...changed(undefined), value: { link: url }, text: url }
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
    operator,
    'setup-link': setupLink,
  },
})

function changed(user: User | undefined) {
  return { target: { kind: 'account', ids: user ? [user.id] : [] } }
}

function shown(user: User) {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    secondFactor: user.hasSecondFactor ? 'yes' : 'no',
    operator: user.isOperator ? 'yes' : 'no',
    disabledAt: user.disabledAt?.toISOString() ?? '',
    createdAt: user.createdAt.toISOString(),
  }
}

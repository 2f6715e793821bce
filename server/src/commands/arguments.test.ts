import { expect, test } from 'vitest'
import { argumentProblem } from './arguments.ts'
import { tributary } from './tributary.ts'

const known = Object.keys(tributary.subCommands ?? {}).join(', ')

test.each([
  ['eat', `There is no command tributary eat. Known: ${known}.`],
  ['toString', `There is no command tributary toString. Known: ${known}.`],
  ['--json workspace', `There is no command tributary --json. Known: ${known}.`],
  ['workspace eat', 'There is no command tributary workspace eat. Known: create, list, set.'],
  ['workspace create', 'Missing required positional argument: NAME. See: tributary workspace create --help'],
  ['workspace create My Company', 'Unexpected argument "Company". See: tributary workspace create --help'],
  [
    'workspace create a --plan gold',
    'Invalid value for argument: --plan (gold). Expected one of: free, pro, business, advanced, enterprise. See: tributary workspace create --help',
  ],
  ['key list a --jsn', 'There is no option --jsn. See: tributary key list --help'],
  ['domain add a', 'Missing required positional argument: SLUG. See: tributary domain add --help'],
  [
    'events dead-letters drop --sequence -5',
    "Numbers can't be negative: -5. See: tributary events dead-letters drop --help",
  ],
  ['migrate -f', 'There is no option -f. See: tributary migrate --help'],
])('the command line `tributary %s` is refused', async (line, message) => {
  expect(await argumentProblem(tributary, line.split(' '))).toBe(message)
})

test.each([
  'serve',
  'workspace create a',
  'workspace create a --json --plan pro --slug=b',
  'workspace create -- --strange',
  'workspace create -',
  'key create a --scopes links.read --expires 2027-01-31',
])('the command line `tributary %s` is accepted', async (line) => {
  expect(await argumentProblem(tributary, line.split(' '))).toBeUndefined()
})

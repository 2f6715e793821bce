import { defineCommand } from 'citty'
import { recordRelease } from '../features/operator/service.ts'
import { jsonFlag, onChange } from './run.ts'

const known = defineCommand({
  meta: {
    name: 'known',
    description: 'Record the newest version, which the operator page compares with the running one',
  },
  args: {
    version: { type: 'positional', description: 'The newest version, such as 1.4.0', required: true },
    url: { type: 'string', description: 'Address of its release notes' },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onChange({ command: 'release known', json: args.json }, async (handles) => {
      const { version, url } = await recordRelease(handles, { version: args.version, url: args.url })
      const target = { kind: 'releases', ids: [version] }
      return { target, value: { version, url }, text: `The newest version is ${version}.` }
    }),
})

export const release = defineCommand({
  meta: { name: 'release', description: 'Record which versions there are' },
  subCommands: { known },
})

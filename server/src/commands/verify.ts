import { defineCommand } from 'citty'
import { requireWorkspace } from '../features/workspaces/service.ts'
import { isSound, verify } from '../maintenance/verify.ts'
import { progress } from './progress.ts'
import { tryToRecord } from './record-run.ts'
import { jsonFlag, onDatabases, print } from './run.ts'
import { verifiedText } from './verify-text.ts'

export const verifyCommand = defineCommand({
  meta: {
    name: 'verify',
    description:
      'Compare all counters and rollups with the stored clicks, leads and sales; exit code 1 when they differ',
  },
  args: {
    repair: { type: 'boolean', description: 'Repair the differences', default: false },
    workspace: { type: 'string', description: 'Id or slug of a workspace; all workspaces when omitted' },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const workspace = args.workspace ? await requireWorkspace(handles, args.workspace) : undefined
      const startedAt = new Date()
      const found = await verify(handles, { workspaceId: workspace?.id, repair: args.repair }, progress())
      print(args.json, found, verifiedText(found, args.repair))
      const isSuccessful = isSound(found)
      if (!workspace) await tryToRecord(handles, 'verify', { startedAt, isSuccessful, details: {} })
      if (!isSuccessful) process.exitCode = 1
    }),
})

import { defineCommand } from 'citty'
import { checkUpgrade } from '../maintenance/upgrade-check.ts'
import { systemClock } from '../platform/clock.ts'
import { readConfig } from '../platform/config.ts'
import { openPlatform } from '../platform/handles.ts'
import { openLog } from '../platform/log.ts'
import { jsonFlag, print, reportProblems, table } from './run.ts'

export const upgradeCheck = defineCommand({
  meta: {
    name: 'upgrade-check',
    description: 'Check whether this version can replace the running one, without changes; exit code 1 when it can not',
  },
  args: jsonFlag,
  run: ({ args }) =>
    reportProblems(async () => {
      await using platform = await openPlatform(readConfig(), openLog('silent'), systemClock, 'command')
      const checks = await checkUpgrade(platform)
      const rows = checks.map(({ check, verdict, found }) => ({ check, verdict, found }))
      const isReady = checks.every(({ verdict }) => verdict !== 'problem')
      const steps = checks.flatMap(({ next, check }) => (next ? [`${check}: ${next}`] : []))
      const end = isReady ? 'This version can replace the running one.' : 'This version can not replace it yet.'
      print(args.json, { ready: isReady, checks }, [table(rows), '', ...steps, end].join('\n'))
      if (!isReady) process.exitCode = 1
    }),
})

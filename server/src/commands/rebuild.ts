import { defineCommand } from 'citty'
import { rebuild } from '../maintenance/rebuild.ts'
import { systemClock } from '../platform/clock.ts'
import { readConfig } from '../platform/config.ts'
import { openPlatform } from '../platform/handles.ts'
import { openLog } from '../platform/log.ts'
import { progress } from './progress.ts'
import { jsonFlag, print, reportProblems } from './run.ts'

export const rebuildCommand = defineCommand({
  meta: {
    name: 'rebuild',
    description: 'Add missing events from the event log and PostgreSQL to ClickHouse; nothing is deleted',
  },
  args: jsonFlag,
  run: ({ args }) =>
    reportProblems(async () => {
      await using platform = await openPlatform(readConfig(), openLog('silent'), systemClock, 'command')
      const rebuilt = await rebuild(platform, progress())
      const { messages, clicks, added, links, conversions, conversionsAdded, recovered, unrepaired } = rebuilt
      const lines = [
        `Messages read from the log: ${messages}, with ${clicks} clicks. Clicks added: ${added}.`,
        `Leads, sales and refunds read from PostgreSQL: ${conversions}. Rows added: ${conversionsAdded}.`,
        `Links written: ${links}. Counters and rollups repaired: ${recovered}.`,
      ]
      if (unrepaired > 0)
        lines.push(
          `Not repaired: ${unrepaired}. Run: tributary verify. If a batch is unfinished, start a worker and try again.`,
        )
      print(args.json, rebuilt, lines.join('\n'))
      if (unrepaired > 0) process.exitCode = 1
    }),
})

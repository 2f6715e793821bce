import { defineCommand } from 'citty'
import { countDeadEvents } from '../features/ingest/service.ts'
import { requireWorkspace } from '../features/workspaces/service.ts'
import { reconcile } from '../maintenance/clicks.ts'
import { reconcileConversions } from '../maintenance/conversions.ts'
import { reconcileCustomers } from '../maintenance/customers.ts'
import { reconcileRollups } from '../maintenance/rollups.ts'
import type { Config } from '../platform/config.ts'
import { countLetters } from '../platform/dead-letters.ts'
import { selectRewinds } from '../platform/incarnation.ts'
import { openLog } from '../platform/log.ts'
import { closeNats, openNats } from '../platform/nats.ts'
import type { Db } from '../platform/postgres.ts'
import { progress } from './progress.ts'
import { jsonFlag, onDatabases, print } from './run.ts'
import { isSound, rewindOf, type Verified, verifiedText } from './verify-text.ts'

export const verify = defineCommand({
  meta: {
    name: 'verify',
    description:
      'Compare all counters and rollups with the stored clicks, leads and sales; exit code 1 when they differ',
  },
  args: {
    repair: { type: 'boolean', description: 'Set what differs right', default: false },
    workspace: { type: 'string', description: 'Id or slug of one workspace; all when omitted' },
    ...jsonFlag,
  },
  run: ({ args }) =>
    onDatabases(async (handles) => {
      const workspace = args.workspace ? await requireWorkspace(handles, args.workspace) : undefined
      const showProgress = progress()
      const options = { workspaceId: workspace?.id, repair: args.repair }
      const lists = { findings: [], conversions: [], customers: [], rollups: [] }
      const counts = { links: 0, different: 0, repaired: 0, unknown: 0, doubled: 0 }
      const found: Verified = {
        ...counts,
        ...lists,
        deadLetters: await countRefused(handles, workspace?.id),
        rewinds: [],
      }
      found.rewinds = (await selectRewinds(handles.db)).flatMap(rewindOf)
      for await (const step of reconcile(handles, options)) {
        found.links += step.links
        for (const { lastClicked, ...finding } of step.findings) {
          if (finding.linkId === null) found.unknown += 1
          else if (finding.counter !== finding.rows - finding.doubled) found.different += 1
          if (finding.repaired) found.repaired += 1
          found.doubled += finding.doubled
          found.findings.push(finding)
        }
        showProgress(Math.floor(step.percent * 0.4), `clicks of ${found.links} links`)
      }
      for await (const step of reconcileConversions(handles, options)) {
        found.conversions.push(...step.findings)
        showProgress(40 + Math.floor(step.percent * 0.2), 'leads and sales of links')
      }
      for await (const step of reconcileCustomers(handles, options)) {
        found.customers.push(...step.findings)
        showProgress(60 + Math.floor(step.percent * 0.1), 'customers')
      }
      // Last, since rows that were added above may have been counted before they were lost.
      for await (const step of reconcileRollups(handles, options)) {
        found.rollups.push(...step.findings)
        showProgress(70 + Math.floor(step.percent * 0.3), `rollups of ${step.month.slice(0, 7)}`)
      }
      showProgress(100, `${found.links} links`)
      print(args.json, found, verifiedText(found, args.repair))
      if (!isSound(found)) process.exitCode = 1
    }),
})

/** Messages of the log are those of all workspaces, so they are counted only without one. */
async function countRefused(
  { config, db }: { config: Config; db: Db },
  workspaceId: string | undefined,
): Promise<Verified['deadLetters']> {
  const { conversion, outbox } = await countLetters(db, workspaceId)
  if (workspaceId !== undefined) return { conversions: conversion, messages: outbox }
  const nats = await openNats(config, openLog('silent')).catch(() => undefined)
  const inLog = nats && (await countDeadEvents({ nats }).catch(() => undefined))
  if (nats) await closeNats(nats)
  return { conversions: conversion, messages: inLog === undefined ? null : inLog + outbox }
}

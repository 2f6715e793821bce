import { createClient } from '@tributary/contract/client'
import { createLink, listLinks } from '@tributary/contract/links'
import { type Plan, plans } from '@tributary/contract/operation'
import { clickKeys } from '../server/src/features/click-ids/service.ts'
import { addDomain } from '../server/src/features/domains/service.ts'
import { linkNumbers } from '../server/src/features/links/service.ts'
import { createToken } from '../server/src/features/tokens/service.ts'
import { createWorkspace } from '../server/src/features/workspaces/service.ts'
import type { Platform } from '../server/src/platform/context.ts'
import { contextIn } from '../server/test/context.ts'
import { demoLinks } from './links.ts'
import { pastClicks, sendToLog, type Target } from './visitors.ts'

export type SampleWorkspace = { id: string; key: string }
export type SampleWorkspaces = Record<Plan, SampleWorkspace>

type Say = (line: string) => void
type Clicks = {
  count: number
  /** Number of clicks sent by earlier runs, so that no visitor repeats. */
  sentBefore: number
}

export const sampleDomain = 'demo.localhost'
export const sampleClicks = 2_000

const days = 30
const dayMs = 86_400_000
const chunkClicks = 10_000
// Maximum clicks in NATS that are not yet stored: the worker stores about as fast as one process sends.
const maxWaiting = 50_000
const pollMs = 250
const stalledMs = 60_000

/** Creates one workspace with an API key for each plan; the business workspace owns the sample domain. */
export async function makeWorkspaces(platform: Platform): Promise<SampleWorkspaces> {
  const made = plans.map(async (plan) => {
    const workspace = await createWorkspace(platform, { name: `Demo ${plan}`, plan })
    const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'Demo' })
    return [plan, { id: workspace.id, key }] as const
  })
  const workspaces = Object.fromEntries(await Promise.all(made)) as SampleWorkspaces
  await addDomain(platform, { workspaceId: workspaces.business.id, slug: sampleDomain })
  return workspaces
}

/** Creates missing sample links, sends clicks of the last 30 days, and waits until all are counted. */
export async function fillWorkspace(
  platform: Platform,
  workspace: SampleWorkspace,
  { count, sentBefore }: Clicks,
  say: Say,
): Promise<void> {
  const targets = await ensureLinks(platform, workspace)
  const countedBefore = await countClicks(platform, workspace)
  const countStored = async () => (await countClicks(platform, workspace)) - countedBefore
  say(`Sending ${formatCount(count)} clicks of the last ${days} days through NATS …`)
  let known = 0
  const end = Date.now() - dayMs / 24 / 60
  const start = end - days * dayMs
  const timeAt = (index: number) => start + (index / count) * (end - start)
  for (let first = 0; first < count; first += chunkClicks) {
    const last = Math.min(count, first + chunkClicks)
    const clicks = pastClicks(clickKeys(platform.config), targets, {
      count: last - first,
      first: sentBefore + first,
      from: timeAt(first),
      to: timeAt(last),
    })
    await sendToLog(platform, workspace.id, clicks)
    await waitUntilStored(last - maxWaiting)
  }
  await waitUntilStored(count)

  async function waitUntilStored(target: number): Promise<void> {
    for (let changedAt = performance.now(); known < target; ) {
      const stored = await countStored()
      if (stored !== known) {
        known = stored
        changedAt = performance.now()
        say(`  ${formatCount(stored)} of ${formatCount(count)} clicks stored and counted`)
      }
      if (performance.now() - changedAt > stalledMs) {
        throw new Error(
          `${formatCount(known)} of ${formatCount(count)} clicks are stored, and no more for ${stalledMs / 1000} s. See the server log.`,
        )
      }
      if (known < target) await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  }
}

async function ensureLinks(platform: Platform, workspace: SampleWorkspace): Promise<Target[]> {
  const call = createClient({ url: platform.config.API_URL, token: workspace.key })
  const existing = new Map((await listSampleLinks(platform, workspace)).map((link) => [link.key, link]))
  const targets: Target[] = []
  for (const link of demoLinks) {
    const { id, url } = existing.get(link.key) ?? (await call(createLink, { body: { ...link, domain: sampleDomain } }))
    const [number] = await linkNumbers(contextIn(platform, workspace.id), { ids: [id] })
    targets.push({ number: number as bigint, workspaceId: workspace.id, url })
  }
  return targets
}

async function countClicks(platform: Platform, workspace: SampleWorkspace): Promise<number> {
  return (await listSampleLinks(platform, workspace)).reduce((sum, link) => sum + link.clicks, 0)
}

/** Reads the first page by clicks, which has all sample links, because other links on this domain have fewer clicks. */
async function listSampleLinks({ config }: Platform, { key }: SampleWorkspace) {
  const call = createClient({ url: config.API_URL, token: key })
  const keys = new Set(demoLinks.map((link) => link.key))
  const query = { domain: sampleDomain, sortBy: 'clicks' as const, showArchived: 'true' }
  return (await call(listLinks, { query })).filter((link) => keys.has(link.key))
}

function formatCount(count: number): string {
  return count.toLocaleString('en')
}

import { asSystem, type Ctx, type Platform } from '../../platform/context.ts'
import { hashPartition } from '../../platform/ids.ts'
import { jetStream } from '../../platform/nats.ts'
import { transaction } from '../../platform/postgres.ts'
import { clickKeys } from '../click-ids/service.ts'
import { makeCustomer } from '../customers/service.ts'
import { createLink, linkNumbers, linksByNumber } from '../links/service.ts'
import { clicksSubject, type RawClick } from '../redirect/messages.ts'
import { createTag } from '../tags/service.ts'
import { recordPastLead, recordPastSale } from '../track/service.ts'
import { findWorkspace } from '../workspaces/service.ts'
import { clickCount, planClicks, planCustomers, sampleLinks } from './plan.ts'
import { claimSample, postponeSample, recordLinks, type SampleRow, updateStep } from './store.ts'

const claimMs = 60_000
const pauseMs = 1_000
// Clicks that are not counted after this time are left out, so that the sample data is ready anyway.
const patienceMs = 120_000
const messageClicks = 100

/** Does the next step of sample data that is due. Returns whether there was one. */
export async function fillDue(platform: Platform): Promise<boolean> {
  const now = platform.now()
  const row = await claimSample(platform.db, now, new Date(now.getTime() + claimMs))
  if (!row) return false
  const ctx = asSystem(platform, row.sample_workspace_id)
  if (!(await findWorkspace(platform, row.sample_workspace_id))) await finishStep(platform, row, 'deleted')
  else if (row.step === 'new') await createLinks(ctx, row)
  else if (row.step === 'linked') await sendClicks(ctx, row)
  else await createConversions(ctx, row)
  return true
}

function finishStep({ db }: Pick<Platform, 'db'>, row: SampleRow, step: SampleRow['step']): Promise<boolean> {
  return updateStep(db, row.workspace_id, row.sample_workspace_id, step)
}

async function createLinks(ctx: Ctx, row: SampleRow): Promise<void> {
  await transaction(ctx, async (ctx) => {
    for (const name of new Set(sampleLinks.map(({ tag }) => tag))) await createTag(ctx, { name })
    const suffix = row.slug.slice(-6)
    const ids: string[] = []
    for (const { key, url, title, tag } of sampleLinks) {
      const shared = { domain: ctx.config.SHORT_DOMAIN, key: `${key}-${suffix}`, url, title, trackConversion: true }
      ids.push((await createLink(ctx, { ...shared, tagNames: [tag], comments: 'Sample data' })).id)
    }
    await recordLinks(ctx.db, row.workspace_id, await linkNumbers(ctx, { ids }))
    await finishStep(ctx, row, 'linked')
  })
}

/** Sends the clicks to the log. After a crash they are sent again with the same ids, and counted once. */
async function sendClicks(ctx: Ctx, row: SampleRow): Promise<void> {
  const { clicks } = await readClicks(ctx, row)
  const subject = clicksSubject(hashPartition(ctx.workspaceId, ctx.config.EVENT_PARTITIONS))
  const stream = jetStream(ctx.nats)
  for (let start = 0; start < clicks.length; start += messageClicks) {
    await stream.publish(subject, JSON.stringify(clicks.slice(start, start + messageClicks)))
  }
  await finishStep(ctx, row, 'sent')
}

/** Records leads and sales once the clicks are stored, from which they copy country and device. */
async function createConversions(ctx: Ctx, row: SampleRow): Promise<void> {
  const { clicks, counted } = await readClicks(ctx, row)
  const now = ctx.now().getTime()
  if (counted < clickCount && now - row.step_at.getTime() < patienceMs) {
    return postponeSample(ctx.db, row.workspace_id, new Date(now + pauseMs))
  }
  await transaction(ctx, async (ctx) => {
    for (const { externalId, name, click, leadAt, sales } of planCustomers(clicks, row.created_at)) {
      const linkNumber = BigInt(click.linkNumber)
      const person = { externalId, name, email: null, avatar: null }
      const customer = await makeCustomer(ctx, person, { clickId: click.id, linkNumber })
      const shared = { customer, linkNumber, clickId: click.id }
      await recordPastLead(ctx, { ...shared, eventName: 'Sign up', at: leadAt })
      for (const sale of sales) {
        await recordPastSale(ctx, { ...shared, ...sale, eventName: 'Purchase', currency: 'usd', isFirst: true })
      }
    }
    await finishStep(ctx, row, 'ready')
  })
}

async function readClicks(ctx: Ctx, row: SampleRow): Promise<{ clicks: RawClick[]; counted: number }> {
  const links = await linksByNumber(ctx, row.link_numbers)
  const targets = row.link_numbers.map((number) => ({
    ...{ number, workspaceId: ctx.workspaceId },
    url: links.get(number)?.url ?? 'https://www.example.com/',
  }))
  const counted = [...links.values()].reduce((sum, { clicks }) => sum + clicks, 0)
  return { clicks: planClicks(clickKeys(ctx.config), targets, row.created_at), counted }
}

import { expect, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { transaction } from '../../platform/postgres.ts'
import { appendClicks, appendConversions, type NewClick } from '../event-storage/service.ts'
import { getLink } from '../links/list.ts'
import { linkNumbers, updateLink } from '../links/service.ts'

const platform = await openTestPlatform()
const [often, well] = ['https://example.com/often', 'https://example.com/well']

test('the A/B variant with the most leads becomes the destination, however many clicks others had', async () => {
  const workspace = await buildWorkspace(platform)
  const ctx = contextIn(platform, workspace.id)
  const started = Date.now()
  const link = await buildLink(platform, workspace, {
    testVariants: [often, well].map((url) => ({ url, percentage: 50 })),
    testStartedAt: new Date(started - 60_000).toISOString(),
    testCompletedAt: new Date(started + 3_600_000).toISOString(),
  })
  const [number] = await linkNumbers(ctx, { ids: [link.id] })
  const row = (url: string) => ({
    ...Object.fromEntries(texts.map((name) => [name, ''])),
    ...{ workspace_id: workspace.id, timestamp: started - 1_000, link_number: String(number), ip: '::', url },
  })
  const clicks = [often, often, often, well].map((url, index) => ({
    ...row(url),
    id_text: Buffer.alloc(30, index).toString('base64url'),
  }))
  await appendClicks(platform, clicks as NewClick[], `close:${workspace.id}`)
  const click_id_text = Buffer.alloc(30, 3).toString('base64url')
  const about = { event_name: 'Sign up', customer_id: 'cus_1', metadata: '', click_id_text }
  const lead = { ...row(well), id: 'lead', ...about, click_timestamp: started - 1_000 }
  await transaction(platform, (platform) =>
    appendConversions(platform, { leads: [lead as never], sales: [] }, `close:${workspace.id}`),
  )
  await updateLink(ctx, link.id, { testCompletedAt: new Date().toISOString() })
  await eventually(async () => expect((await getLink(ctx, { linkId: link.id })).url).toBe(well))
})

const texts = [
  'trigger',
  'country',
  'region',
  'city',
  'continent',
  'device',
  'browser',
  'os',
  'referer',
  'referer_url',
].concat(['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content', 'bot'])

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linkNumbers } from '../../server/src/features/links/service.ts'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../server/test/build.ts'
import { contextIn } from '../../server/test/context.ts'
import { clickRow, storeEvents } from '../../server/test/events/feed-rows.ts'
import { lacksBrowser, openBrowser, type Visiting } from './browser.ts'
import { enough, measureFrames } from './frames.ts'
import { measurePace } from './pace.ts'
import { openShortLink } from './short-link-visits.ts'

const events = 100_000
const chunk = 20_000
const visits = 7

describe.skipIf(lacksBrowser)('a list of 100,000 events', () => {
  let visiting: Visiting
  let workspace: BuiltWorkspace
  const key = 'spring'
  beforeAll(async () => {
    visiting = await openBrowser()
    workspace = await buildWorkspace(visiting.platform)
    const link = await buildLink(visiting.platform, workspace, { key })
    const [linkNumber = 0n] = await linkNumbers(contextIn(visiting.platform, workspace.id), { ids: [link.id] })
    const now = Date.now()
    for (let first = 0; first < events; first += chunk) {
      const clicks = Array.from({ length: chunk }, (_, index) =>
        clickRow({ workspaceId: workspace.id, linkNumber }, { timestamp: now - 60_000 - (first + index) * 1_000 }),
      )
      await storeEvents(visiting.platform, { clicks })
    }
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const live = /^Live$/

  test('a click is on the screen within 2 s of the visit', async () => {
    const { page, open } = await visiting.visit({ workspace })
    await open('/events')
    await page.getByRole('status').getByText(live).waitFor()
    const { slowness } = await measurePace(page)
    const times: number[] = []
    for (let visit = 0; visit < visits; visit += 1) {
      const newest = await page.locator('[data-index="0"]').getAttribute('data-row')
      const visitedAt = await openShortLink(workspace, key)
      await page.locator(`[data-index="0"]:not([data-row="${newest}"])`).waitFor()
      times.push(performance.now() - visitedAt)
    }
    const median = times.toSorted((a, b) => a - b)[Math.floor(visits / 2)] as number
    console.info(`from the visit to the row: median ${Math.round(median)} ms of ${times.map(Math.round).join(', ')}`)
    expect(median / slowness).toBeLessThanOrEqual(2_000)
  })

  test('scrolling draws 55 of 60 frames of a bare page, while pages of events load', async () => {
    const { page, open, context } = await visiting.visit({ workspace })
    await open('/events')
    await page.getByRole('status').getByText(live).waitFor()
    expect(await measureFrames(page, context)).toBeGreaterThanOrEqual(enough)
  })

  test('at most 60 rows are in the page and 80 MB in its memory, however far one scrolls', async () => {
    const { page, open, context } = await visiting.visit({ workspace })
    await open('/events')
    await page.locator('[data-index="0"]').waitFor()
    for (let pages = 1; pages <= 40; pages += 1) {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      await page.locator(`[data-index="${pages * 100}"]`).waitFor({ state: 'attached' })
      expect(await page.locator('[data-row]').count()).toBeLessThanOrEqual(60)
    }
    const session = await context.newCDPSession(page)
    await session.send('HeapProfiler.collectGarbage')
    const { usedSize } = await session.send('Runtime.getHeapUsage')
    console.info(`memory after 4,000 events: ${Math.round(usedSize / 1_000_000)} MB`)
    expect(usedSize / 1_000_000).toBeLessThanOrEqual(80)
    await page.evaluate('scrollTo(0, 500 * 36)')
    await page.locator('[data-index="500"]').waitFor()
    await page.evaluate('scrollTo(0, 0)')
    await page.locator('[data-index="0"]').waitFor()
  })
})

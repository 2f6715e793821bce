import { createClient } from '@tributary/contract/client'
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildWorkspace } from '../../server/test/build.ts'
import { lacksBrowser, openBrowser, type Visiting } from './browser.ts'
import { enough, measureFrames } from './frames.ts'

const links = 100_000
const inSale = 5_000
/** How long a person takes for three keystrokes. */
const threeKeystrokesMs = 600

describe.skipIf(lacksBrowser)('a list of 100,000 links', () => {
  let visiting: Visiting
  let workspace: BuiltWorkspace
  const call = () => createClient({ url: inject('server').api, token: workspace.key })
  beforeAll(async () => {
    visiting = await openBrowser()
    workspace = await buildWorkspace(visiting.platform)
    await sql`
      WITH made AS (
        INSERT INTO links (id, workspace_id, domain, key, lookup_key, url)
        SELECT 'link_' || gen_random_uuid(), ${workspace.id}, ${workspace.domain}, 'k' || n, 'k' || n,
          'https://example.com/' || CASE WHEN n % ${links / inSale} = 0 THEN 'spring-sale' ELSE 'page' END || '/' || n * 7919
        FROM generate_series(1, ${links}::int) AS n
        RETURNING number, workspace_id
      )
      INSERT INTO link_counters (link_number, workspace_id) SELECT number, workspace_id FROM made`.execute(
      visiting.platform.db,
    )
    await sql`ANALYZE links`.execute(visiting.platform.db)
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const countIn = (folderId: string) => call()('getLinksCount', { query: { folderId } })

  test('one link is found within the time of three keystrokes', async () => {
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links')
    await page.getByText('100,000 links').first().waitFor()
    const times: number[] = []
    for (const number of [71_234, 4_711, 88_888, 31_415, 99_999]) {
      await page.keyboard.press('/')
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.type(`k${number}`)
      const started = performance.now()
      await page.getByRole('link', { name: `${workspace.domain}/k${number}`, exact: true }).waitFor()
      times.push(performance.now() - started)
      await page.keyboard.press('Escape')
    }
    const median = times.sort((a, b) => a - b)[2]
    expect(median, times.map(Math.round).join(', ')).toBeLessThan(threeKeystrokesMs)
    expect(problems).toEqual([])
  })

  test('5,000 links are moved to a folder by a filter and back by undo, by mouse', async () => {
    const { id } = await call()('createFolder', { body: { name: 'Spring' } })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links?search=spring-sale')
    await page.getByText('5,000 links').first().waitFor()
    await page.getByRole('checkbox', { name: 'Select all loaded rows' }).click()
    await page.getByRole('button', { name: /^Select all/ }).click()
    await page.getByRole('button', { name: /^Move/ }).click()
    await page.getByRole('option', { name: 'Spring' }).click()
    await page.getByRole('button', { name: /^Move 5,000/ }).click()
    await expectMovedAndUndone(page, id, () => page.getByRole('button', { name: 'Undo' }).click())
    expect(problems).toEqual([])
  })

  test('5,000 links are moved to a folder by a filter and back by undo, by keyboard alone', async () => {
    const { id } = await call()('createFolder', { body: { name: 'Autumn' } })
    const { page, open, problems } = await visiting.visit({ workspace })
    await open('/links')
    await page.getByText('100,000 links').first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('spring-sale')
    await page.getByText('5,000 links').first().waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Shift+X')
    await page.getByText('5,000 selected').waitFor()
    await page.keyboard.press('m')
    await page.keyboard.type('Autumn')
    await page.getByRole('option', { name: 'Autumn' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /^Move 5,000/ }).waitFor()
    const focused = () => page.evaluate<string>('document.activeElement.textContent')
    for (let presses = 0; presses < 9 && !(await focused()).startsWith('Move 5,000'); presses += 1)
      await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expectMovedAndUndone(page, id, () => page.keyboard.press('ControlOrMeta+z'))
    expect(problems).toEqual([])
  })

  async function expectMovedAndUndone(page: Page, folderId: string, undo: () => Promise<void>): Promise<void> {
    await page.getByText('Changed 5,000 links').first().waitFor({ timeout: 120_000 })
    expect(await countIn(folderId)).toBe(inSale)
    await undo()
    await page.getByText('Undone for 5,000 links').first().waitFor({ timeout: 120_000 })
    expect(await countIn(folderId)).toBe(0)
  }

  test('scrolling draws 55 of 60 frames of a bare page', async () => {
    const { page, open, context } = await visiting.visit({ workspace })
    await open('/links')
    await page.getByText('100,000 links').first().waitFor()
    expect(await measureFrames(page, context)).toBeGreaterThanOrEqual(enough)
  })

  test('at most 60 rows are in the page, and at most 80 MB in its memory', async () => {
    const { page, open, context } = await visiting.visit({ workspace })
    await open('/links')
    await page.getByText('100,000 links').first().waitFor()
    for (const share of [0.1, 0.5, 0.9, 1]) {
      await page.evaluate(`scrollTo(0, document.body.scrollHeight * ${share})`)
      await page.locator('[data-row]').first().waitFor()
      expect(await page.locator('[data-row]').count()).toBeLessThanOrEqual(60)
    }
    const session = await context.newCDPSession(page)
    await session.send('HeapProfiler.collectGarbage')
    const { usedSize } = await session.send('Runtime.getHeapUsage')
    expect(usedSize / 1_000_000).toBeLessThanOrEqual(80)
  })
})

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { browser, buildLink, buildWorkspace } from '../../server/test/build.ts'
import { visit } from '../../server/test/visit.ts'
import { lacksBrowser, openBrowser, type Visiting } from './browser.ts'

describe.skipIf(lacksBrowser)('the free plan', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  test('has the counts of each link, says which plan has figures by day, and asks for none', async () => {
    const workspace = await buildWorkspace(visiting.platform, { plan: 'free' })
    const link = await buildLink(visiting.platform, workspace, { key: 'spring' })
    await visit(`${inject('server').redirect}/spring`, { host: workspace.domain, 'user-agent': browser })
    const { page, open, problems } = await visiting.visit({ workspace })
    const refused: string[] = []
    page.on('response', (response) => void (response.status() === 403 && refused.push(response.url())))

    await open('/analytics')
    await page.getByRole('heading', { name: 'Analytics need the pro plan' }).waitFor()
    await open('')
    await page.getByRole('button', { name: 'Hide first steps' }).click()
    await page.getByRole('heading', { name: 'Figures by day need the pro plan' }).waitFor()
    const clicks = () => page.getByRole('row', { name: /spring/ }).getByRole('cell', { name: '1', exact: true })
    await expect
      .poll(
        async () => {
          await open('/links')
          await page.getByRole('row', { name: /spring/ }).waitFor()
          return clicks().count()
        },
        { timeout: 60_000 },
      )
      .toBe(1)
    await open(`/links/${link.id}`)
    await page.getByRole('heading', { name: 'All time' }).waitFor()
    await page.getByRole('definition').getByText('1', { exact: true }).waitFor()
    expect(refused).toEqual([])
    expect(problems).toEqual([])
  })
})

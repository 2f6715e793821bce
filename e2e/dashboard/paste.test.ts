import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lacksBrowser, openBrowser, type Visiting } from './browser.ts'
import { findBuilder, findLink, paste } from './builder-steps.ts'

/** How long a person takes to find the next control, and to type a character. */
const look = 500
const pace = { delay: 60 }

describe.skipIf(lacksBrowser)('a pasted URL', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  test('becomes a link with UTM, QR code and password within 30 s, by mouse', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    await open('/links')
    const started = Date.now()
    await paste(page, 'https://example.com/pricing')
    const builder = findBuilder(page)
    await typeInto(page, builder.getByLabel('Slug'), 'pricing')
    await press(page, builder.getByRole('button', { name: 'UTM' }))
    await typeInto(page, builder.getByLabel('Source'), 'newsletter')
    await typeInto(page, builder.getByLabel('Campaign'), 'autumn')
    await press(page, builder.getByRole('button', { name: 'Password' }))
    await typeInto(page, builder.getByLabel('Password'), 'open sesame')
    await press(page, builder.getByRole('button', { name: 'Design the QR code' }))
    const designer = page.getByRole('dialog', { name: /QR/ })
    await press(page, designer.getByRole('radio', { name: 'Dots' }))
    await press(page, designer.getByRole('button', { name: 'Save design' }))
    await press(page, builder.getByRole('button', { name: 'Create and copy' }))
    await page.locator('[data-row]').filter({ hasText: '/pricing' }).waitFor()
    expect(Date.now() - started).toBeLessThan(30_000)
    const link = await findLink(workspace, 'pricing')
    expect(link).toMatchObject({ utm_source: 'newsletter', utm_campaign: 'autumn', password: 'open sesame' })
    expect(problems).toEqual([])
  })

  test('becomes a link with UTM, QR code and password within 30 s, by keyboard alone', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    await open('/links')
    const started = Date.now()
    await paste(page, 'https://example.com/pricing')
    await tabTo(page, 'Slug')
    await page.keyboard.type('pricing', pace)
    await tabTo(page, 'UTM')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Source')
    await page.keyboard.type('newsletter', pace)
    await tabTo(page, 'Password')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Password')
    await page.keyboard.type('open sesame', pace)
    expect(
      await findBuilder(page)
        .getByRole('img', { name: /QR code/ })
        .count(),
    ).toBe(1)
    await page.keyboard.press('ControlOrMeta+Enter')
    await page.locator('[data-row]').filter({ hasText: '/pricing' }).waitFor()
    expect(Date.now() - started).toBeLessThan(30_000)
    expect(await findLink(workspace, 'pricing')).toMatchObject({ utm_source: 'newsletter', password: 'open sesame' })
    expect(problems).toEqual([])
  })
})

async function press(page: Page, control: ReturnType<Page['locator']>): Promise<void> {
  await page.waitForTimeout(look)
  await control.click()
}

async function typeInto(page: Page, control: ReturnType<Page['locator']>, text: string): Promise<void> {
  await press(page, control)
  await page.keyboard.type(text, pace)
}

/** Presses Tab until the control with the name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const node = 'document.activeElement'
  const focused = () =>
    page.evaluate<string>(
      `${node}.labels?.[0]?.textContent ?? ${node}.getAttribute('aria-label') ?? ${node}.textContent`,
    )
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab')
    if ((await focused()).trim() === name) return page.waitForTimeout(look)
  }
  throw new Error(`Tab never reaches ${name}`)
}

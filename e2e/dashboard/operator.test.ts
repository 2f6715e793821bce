import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { setOperator } from '../../server/src/features/auth/administration.ts'
import { recordRelease, recordRun } from '../../server/src/features/operator/service.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'

describe.skipIf(lacksBrowser)('the operator page', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const { api } = inject('server')

  async function visitOperator(width?: number, locale?: string) {
    const visitor = await visiting.visit({ width, locale })
    await setOperator(visiting.platform, visitor.member.email, true)
    return visitor
  }

  test('an operator opens it from the account menu by keyboard alone', async () => {
    const { page, open, problems } = await visitOperator()
    await open()
    await page.getByRole('button', { name: /^Account/ }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Installation' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Installation', level: 1 }).waitFor()
    await page.getByText('PostgreSQL').waitFor()
    await page.getByRole('link', { name: 'Your workspaces' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('navigation').first().waitFor()
    expect(problems).toEqual([])
  })

  test('the owner of a workspace has no such menu entry, and finds nothing at its address', async () => {
    const { page, open, problems } = await visiting.visit()
    await open()
    await page.getByRole('button', { name: /^Account/ }).click()
    await page.getByRole('menuitem', { name: 'Your account' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Installation' }).count()).toBe(0)
    await page.goto(`${api}/app/_operator`)
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor()
    expect(problems).toEqual([])
  })

  test('it shows states, ages and what to do, refreshes itself and is accessible at both widths', async () => {
    const startedAt = new Date(Date.now() - 90_000)
    await eachWidth(async (width) => {
      const { page, problems } = await visitOperator(width)
      await sql`DELETE FROM maintenance_runs`.execute(visiting.platform.db)
      await page.goto(`${api}/app/_operator`)
      await page.getByText('Something needs you now').waitFor()
      await page.getByText('Make a backup every day').waitFor()
      await page.getByText('Last verification: not checked yet').waitFor()
      expect(await page.locator('li > div:empty').count()).toBe(0)
      const details = { location: `s3://backups/${'long-name-'.repeat(20)}`, bytes: 203_000_000, encrypted: false }
      await recordRun(visiting.platform, 'backup', { startedAt, isSuccessful: true, details })
      await recordRelease(visiting.platform, { version: '99.0.0', url: 'https://example.com/notes' })
      // Within the next refresh, without a click.
      await page.getByText('99.0.0 is newer').waitFor({ timeout: 60_000 })
      await page.getByText('203 MB').waitFor()
      expect(await page.getByText('Make a backup every day').count()).toBe(0)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      await expectAccessible(page)
      await sql`DELETE FROM known_release`.execute(visiting.platform.db)
      expect(problems).toEqual([])
    })
  })

  test('its longer German texts fit a small screen', async () => {
    const { page } = await visitOperator(360, 'de-DE')
    await page.goto(`${api}/app/_operator`)
    await page.getByText('Verlust durch Wiederherstellung').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  })
})

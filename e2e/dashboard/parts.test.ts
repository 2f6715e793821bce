import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { freePort } from '../../engines/port.ts'
import { eventually } from '../../server/test/stack.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting, widths } from './browser.ts'

/* What `npm run dev --workspace dashboard` starts, in front of the server of the test run. */
describe.skipIf(lacksBrowser)('the dashboard in development', () => {
  const { api } = inject('server')
  let visiting: Visiting
  let vite: ChildProcess
  let url = ''
  beforeAll(async () => {
    visiting = await openBrowser()
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const program = join(import.meta.dirname, '../../node_modules/vite/bin/vite.js')
    vite = spawn(process.execPath, [program, '--host', '127.0.0.1', '--port', `${port}`, '--strictPort'], {
      cwd: join(import.meta.dirname, '../../dashboard'),
      env: { ...process.env, API_URL: api },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    await eventually(async () => expect((await fetch(`${url}/app/`)).status).toBe(200), 60_000)
  })
  afterAll(async () => {
    if (vite?.exitCode === null) {
      vite.kill()
      await once(vite, 'exit')
    }
    await visiting?.[Symbol.asyncDispose]()
  })

  test('shows every part in every state, accessible in both themes, small and wide', async () => {
    await eachWidth(async (width) => {
      const { page, context } = await visiting.visit({ width })
      const errors = watchErrors(page)
      await page.goto(`${url}/app/_parts`)
      await page.getByRole('heading', { level: 1, name: 'Parts' }).waitFor({ timeout: 120_000 })
      const headings = ['Controls', 'Forms', 'Filters', 'Charts', 'States', 'Overlays', 'Table']
      for (const name of headings) await page.getByRole('heading', { name, exact: true }).waitFor()
      await expectAccessible(page)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(errors).toEqual([])
      await context.close()
    })
  })

  test('shows what opens above the page, accessible in both themes', async () => {
    const { page } = await visiting.visit({ width: widths.small })
    await page.goto(`${url}/app/_parts`)
    for (const name of ['Open dialog', 'Open confirmation', 'Open drawer', 'Open menu', 'Show toast', 'Show error']) {
      await page.getByRole('button', { name }).click({ timeout: 120_000 })
      await expectAccessible(page, '[role=dialog], [role=menu], [role=region]')
      await page.keyboard.press('Escape')
    }
  })

  test('serves the pages of a workspace, whose calls reach the server', async () => {
    const { page, workspace } = await visiting.visit()
    await page.goto(`${url}/app/${workspace.slug}/links/tags`)
    await page.getByRole('button', { name: 'Create tag' }).first().click({ timeout: 120_000 })
    await page.getByLabel('Name').fill('Spring')
    await page.getByRole('dialog').getByRole('button', { name: 'Create tag' }).click()
    await page.getByRole('listitem').filter({ hasText: 'Spring' }).waitFor()
  })
})

function watchErrors(page: Page): string[] {
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  return errors
}

import { createClient } from '@tributary/contract/client'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { buildMember, buildWorkspace } from '../../server/test/build.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'

describe.skipIf(lacksBrowser)('settings', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const { api } = inject('server')

  test('settings are changed by mouse; the address follows a new slug; errors stand at their field', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    const other = await buildWorkspace(visiting.platform)
    await open('/settings')
    await page.waitForURL(/\/settings\/general$/)
    await page.getByLabel('Name').fill('Acme 👩‍👩‍👧‍👦')
    await page.getByLabel('Time zone').click()
    await page.getByRole('combobox', { name: 'Find a time zone' }).fill('new york')
    await page.getByRole('option', { name: 'America/New York' }).click()
    await page.getByLabel('First day of the week').selectOption('0')
    await page.getByLabel('Days from click to lead').fill('0')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText(/^Must be/).waitFor()
    await page.getByLabel('Days from click to lead').fill('30')
    await page.getByLabel('Slug').fill(other.slug)
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByRole('alert').filter({ hasText: other.slug }).waitFor()
    const slug = `n-${workspace.slug}`.slice(0, 40)
    await page.getByLabel('Slug').fill(slug)
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.waitForURL(new RegExp(`/app/${slug}/settings/general`))
    await page.getByRole('button', { name: /Acme .* Switch workspace/ }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Save settings' }).waitFor()
    expect(await page.getByLabel('Days from click to lead').inputValue()).toBe('30')
    expect(await page.getByLabel('Time zone').textContent()).toContain('America/New York')
    expect(problems).toEqual([])
  })

  test('somebody else’s change is shown before it is overwritten', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    await open('/settings/general')
    await page.getByLabel('Name').fill('mine')
    const call = createClient({ url: api, token: workspace.key })
    await call('updateWorkspace', { params: { idOrSlug: workspace.slug }, body: { name: 'theirs' } })
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByRole('button', { name: 'Load again' }).click()
    expect(await page.getByLabel('Name').inputValue()).toBe('theirs')
    expect(problems).toEqual([])
  })

  test('a workspace is deleted by keyboard alone, after a recent sign-in', async () => {
    const { page, open, workspace, member, problems } = await visiting.visit()
    const setSignIn = async (age: string) => {
      await sql`UPDATE sessions SET authenticated_at = now() - ${age}::interval WHERE user_id = ${member.id}`.execute(
        visiting.platform.db,
      )
      await page.waitForTimeout(1_000)
    }
    const confirm = async () => {
      await page.getByRole('button', { name: 'Delete workspace' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: `Delete ${workspace.name}` }).waitFor()
      await page.keyboard.type(workspace.slug)
      await page.keyboard.press('Enter')
    }
    await setSignIn('1 hour')
    await open('/settings/general')
    await confirm()
    await page.getByRole('link', { name: 'Confirm it’s you' }).focus()
    await expectAccessible(page)
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/confirm\?next=/)
    await setSignIn('0 seconds')
    await open('/settings/general')
    await confirm()
    await page.getByRole('heading', { name: 'Create a workspace' }).waitFor()
    expect(problems).toEqual([])
  })

  test('ownership moves to another member, and a member leaves', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    const other = await buildMember(visiting.platform, workspace, 'member')
    await open('/settings/general')
    await page.getByRole('button', { name: 'Transfer workspace' }).click()
    const dialog = page.getByRole('dialog', { name: /^Transfer/ })
    await dialog.getByLabel('New owner').click()
    await page.getByRole('option', { name: other.name }).click()
    await dialog.getByRole('button', { name: 'Transfer workspace' }).click()
    await page.getByText('You are an admin now.').first().waitFor()
    await page.getByRole('button', { name: 'Delete workspace' }).waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Leave workspace' }).click()
    const leaving = page.getByRole('dialog', { name: /^Leave/ })
    await leaving.getByLabel(/to confirm/).fill(workspace.slug)
    await leaving.getByRole('button', { name: 'Leave workspace' }).click()
    await page.getByRole('heading', { name: 'Create a workspace' }).waitFor()
    expect(problems).toEqual([])
  })

  test('the account names the person, leads to the sign-in pages, and changes theme and language', async () => {
    const { page, open, member, problems } = await visiting.visit()
    await open('/links')
    await page.getByRole('button', { name: `Account: ${member.name}` }).click()
    await page.getByRole('menuitem', { name: 'Your account' }).click()
    await page.waitForURL(/\/settings\/account$/)
    await page.getByText(member.email).first().waitFor()
    expect(await page.getByRole('link', { name: 'Change profile and sign-in' }).getAttribute('href')).toBe('/account')
    await page.getByLabel('Theme').selectOption('dark')
    expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
    await page.getByLabel('Language').selectOption('de')
    await page.getByRole('heading', { name: 'Darstellung und Sprache' }).waitFor()
    expect(problems).toEqual([])
  })

  test('a viewer reads the settings and can change none; billing sees only its own sections', async () => {
    const { page, open, problems } = await visiting.visit({ role: 'viewer' })
    await open('/settings/general')
    expect(await page.getByLabel('Name').isDisabled()).toBe(true)
    expect(await page.getByRole('button', { name: /Save|Transfer|Delete/ }).count()).toBe(0)
    const billing = await visiting.visit({ role: 'billing' })
    await billing.open('/settings')
    await billing.page.waitForURL(/\/settings\/account$/)
    expect(
      await billing.page.getByRole('navigation', { name: 'Settings' }).getByRole('link').allTextContents(),
    ).toEqual(['Roles', 'Usage', 'Account', 'Notifications'])
    expect(problems).toEqual([])
  })

  test('hostile texts in every field run no script and break no layout; all is accessible', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const hostile = '\u202E<img src=x onerror="document.title=1">\u200B👩‍👩‍👧‍👦'
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      await open('/settings/general')
      await expectAccessible(page)
      for (const label of ['Name', 'Slug', 'Logo', 'Contact address'])
        await page.getByLabel(label, { exact: true }).fill(hostile.repeat(200))
      await page.getByRole('button', { name: 'Save settings' }).click()
      await page.getByRole('alert').first().waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(await page.title()).not.toBe('1')
      await open('/settings/account')
      await expectAccessible(page)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(problems).toEqual([])
      await context.close()
    })
  })
})

import { randomUUID } from 'node:crypto'
import { createClient } from '@tributary/contract/client'
import { roles } from '@tributary/contract/permissions'
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { buildMember, buildWorkspace } from '../../server/test/build.ts'
import { eachWidth, expectAccessible, lacksBrowser, openBrowser, type Visiting } from './browser.ts'

describe.skipIf(lacksBrowser)('members, invites and roles', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const { api } = inject('server')
  const item = (page: Page, text: string) => page.getByRole('main').getByRole('listitem').filter({ hasText: text })

  test('the table of roles says what the contract says', async () => {
    const { page, open, problems } = await visiting.visit({ role: 'viewer' })
    await open('/settings/roles')
    const table = page.getByRole('table', { name: 'Roles' })
    const cells = async (name: string) =>
      (await table.getByRole('row', { name }).getByRole('cell').allTextContents()).map((text) => text.trim())
    expect(await table.getByRole('columnheader').count()).toBe(roles.length + 1)
    expect(await cells('Domains')).toEqual(['change', 'change', 'read', 'read', 'nothing'])
    expect(await cells('Keys')).toEqual(['change', 'change', 'own', 'read', 'nothing'])
    expect(await cells('Usage')).toEqual(['read', 'read', 'read', 'read', 'read'])
    expect(await cells('Owners, transfer and deletion')).toEqual(['change', ...Array(4).fill('nothing')])
    expect(problems).toEqual([])
  })

  test('a role changes in its row, folders per member, and a removed member’s screen says so', async () => {
    const { page, open, workspace, problems } = await visiting.visit()
    const call = createClient({ url: api, token: workspace.key })
    await call('createFolder', { body: { name: 'Launch', accessLevel: 'read' } })
    const other = await visiting.visit({ workspace, role: 'member' })
    await other.open('/links')
    await open('/settings/members')
    const { name, email } = other.member
    const row = item(page, name)
    await row.getByRole('button', { name: 'folders as set' }).click()
    const dialog = page.getByRole('dialog', { name: `Folders of ${name}` })
    await dialog.getByLabel('Access to Launch').selectOption('none')
    await dialog.getByRole('button', { name: 'Save access' }).click()
    await row.getByText('1 own folder rule').waitFor()
    await row.getByLabel(`Role of ${name}`).selectOption('viewer')
    await page.getByText(`${name} has the role Viewer`).first().waitFor()
    await other.page.getByRole('button', { name: 'Create link' }).first().waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => row.getByLabel(`Role of ${name}`).inputValue(), { timeout: 20_000 }).toBe('member')
    await row.getByRole('button', { name: `Remove ${name}` }).click()
    const removal = page.getByRole('dialog', { name: `Remove ${name}` })
    await removal.getByLabel(/to confirm/).fill(email)
    await removal.getByRole('button', { name: 'Remove member' }).click()
    await row.waitFor({ state: 'hidden' })
    await other.page.getByRole('heading', { name: /You are no longer a member/ }).waitFor()
    expect(problems).toEqual([])
  })

  test('many are invited by keyboard alone; refused addresses say why; an invite ends and comes back', async () => {
    const { page, open, member, problems } = await visiting.visit({ role: 'admin' })
    const [one, two] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`]
    await open('/settings/invites')
    await page.getByLabel('E-mail addresses').focus()
    await page.keyboard.type(`${one}, Two <${two}>; ${member.email}`)
    await page.getByRole('button', { name: 'Invite 3 people' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.type('V')
    expect(await page.getByLabel('Role').inputValue()).toBe('viewer')
    expect(await page.getByLabel('Role').getByRole('option', { name: 'Owner' }).count()).toBe(0)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: member.email }).waitFor()
    expect(await page.getByLabel('E-mail addresses').inputValue()).toBe(member.email)
    await item(page, one).waitFor()
    await page.getByRole('button', { name: `Revoke the invite of ${two}` }).focus()
    await page.keyboard.press('Enter')
    await item(page, two).getByText('open until').waitFor({ state: 'hidden' })
    await page.keyboard.press('ControlOrMeta+z')
    await item(page, two).getByText('open until').waitFor()
    await page.getByRole('button', { name: `Send again to ${one}` }).focus()
    await page.keyboard.press('Enter')
    await page.getByText(`Sent to ${one} again`).first().waitFor()
    expect(problems).toEqual([])
  })

  test('a change of an owner asks for a recent sign-in and comes back', async () => {
    const { page, open, workspace, member, problems } = await visiting.visit()
    const other = await buildMember(visiting.platform, workspace, 'owner')
    await sql`UPDATE sessions SET authenticated_at = now() - interval '1 hour' WHERE user_id = ${member.id}`.execute(
      visiting.platform.db,
    )
    await open('/settings/members')
    await page.waitForTimeout(1_000)
    await page.getByLabel(`Role of ${other.name}`).selectOption('admin')
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Confirm it’s you' }).click()
    await page.waitForURL(/\/confirm\?next=/)
    const next = new URL(page.url()).searchParams.get('next')
    expect(next).toBe(`/app/${workspace.slug}/settings/members`)
    await sql`UPDATE sessions SET authenticated_at = now() WHERE user_id = ${member.id}`.execute(visiting.platform.db)
    await page.waitForTimeout(1_000)
    await page.goto(api + next)
    await page.getByLabel(`Role of ${other.name}`).selectOption('admin')
    await page.getByText(`${other.name} has the role Admin`).first().waitFor()
    expect(problems).toEqual([])
  })

  test('hostile names run no script and break no layout', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    const person = await buildMember(visiting.platform, workspace, 'member')
    const hostile = `\u202E<img src=x onerror="document.title=1">\u200B👩‍👩‍👧‍👦${'x'.repeat(10_000)}`
    await sql`UPDATE users SET name = ${hostile} WHERE id = ${person.id}`.execute(visiting.platform.db)
    const call = createClient({ url: api, token: workspace.key })
    await call('createFolder', { body: { name: `<script>alert(1)</script>${'y'.repeat(160)}` } })
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      await open('/settings/members')
      await item(page, person.email).getByRole('button', { name: 'folders as set' }).click()
      await page.getByRole('dialog').getByText('yyyy').first().waitFor()
      expect(await page.evaluate('document.querySelector("[role=dialog]").scrollWidth <= innerWidth')).toBe(true)
      await open('/settings/invites')
      await page.getByLabel('E-mail addresses').fill(hostile.repeat(2))
      await page.getByRole('button', { name: 'Send invite' }).click()
      await page.getByText('Enter 1 to 100 e-mail addresses.').waitFor()
      await page.getByLabel('E-mail addresses').fill(`${'a'.repeat(5_000)}@example.com <b>@</b>`)
      await page.getByRole('button', { name: 'Invite 2 people' }).click()
      await page.getByRole('alert').first().waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(await page.title()).not.toBe('1')
      expect(problems).toEqual([])
      await context.close()
    })
  })

  test('every screen is accessible in both themes, small and wide', async () => {
    const workspace = await buildWorkspace(visiting.platform)
    await buildMember(visiting.platform, workspace, 'viewer')
    await eachWidth(async (width) => {
      const { page, open, problems, context } = await visiting.visit({ workspace, width })
      for (const name of ['members', 'invites', 'roles']) {
        await open(`/settings/${name}`)
        await expectAccessible(page)
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), name).toBe(true)
      }
      expect(problems).toEqual([])
      await context.close()
    })
  })
})

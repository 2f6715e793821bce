import { randomUUID } from 'node:crypto'
import { createClient } from '@tributary/contract/client'
import { operations } from '@tributary/contract/index'
import { includesScope, roleScopes } from '@tributary/contract/permissions'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { issueInviteLink } from '../../server/src/features/invites/service.ts'
import { type BuiltWorkspace, buildLink } from '../../server/test/build.ts'
import { lacksBrowser, openBrowser, patienceMs, type Visiting } from './browser.ts'
import { watchRequests } from './quiet.ts'

const writing =
  /^(add|archive|create|delete|duplicate|edit|import|invite|leave out|move|new|rename|re-check|remove|restore|revoke|rotate|save|send|set|tag|transfer|unarchive|upload)\b/i

const viewer = roleScopes.viewer
const writes = operations.filter((operation) => operation.kind === 'json').filter(({ method }) => method !== 'get')

describe.skipIf(lacksBrowser)('a viewer', () => {
  let visiting: Visiting
  beforeAll(async () => {
    visiting = await openBrowser()
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const { api } = inject('server')

  test('is invited by mouse, joins, and finds nothing to change on any screen', { timeout: 400_000 }, async () => {
    const { page: owner, open, workspace } = await visiting.visit()
    const paths = await fillScreens(workspace)
    const email = `${randomUUID()}@example.com`
    await open('/settings/invites')
    await owner.getByLabel('E-mail addresses').fill(email)
    await owner.getByLabel('Role').selectOption('viewer')
    await owner.getByRole('button', { name: 'Send invite' }).click()
    await owner.getByRole('main').getByRole('listitem').filter({ hasText: email }).waitFor()

    const page = await join(workspace, email)
    const sent = watchRefused(page)
    const untilQuiet = watchRequests(page)
    for (const path of paths) {
      await page.goto(`${api}/app/${workspace.slug}${path}`)
      await untilQuiet()
      expect(await findWriting(page), path).toEqual([])
      for (const key of ['n', 'c', 'e', '#', 'Delete', 'm', 't', 'a']) await page.keyboard.press(key)
      expect(await page.getByRole('dialog').count(), `${path}: a shortcut opens a dialog`).toBe(0)
      for (const menu of await page.getByRole('button', { name: /^(Actions|More)/ }).all()) {
        await menu.click()
        expect(await findWriting(page), `${path}: menu`).toEqual([])
        await page.keyboard.press('Escape')
      }
    }
    expect(sent).toEqual([])
  })

  test('is refused every operation that the table of roles does not grant', async () => {
    const { page, open, workspace } = await visiting.visit({ role: 'viewer' })
    await open()
    const refused = writes.filter(({ scope, workspace }) => workspace !== 'none' && !includesScope(viewer, scope))
    expect(refused.length).toBeGreaterThan(80)
    const calls = refused.map(({ id, method, path }) => ({
      id,
      method: method.toUpperCase(),
      path: fillPath(path, workspace.slug),
    }))
    const statuses = await page.evaluate(
      ({ calls, headers }) =>
        Promise.all(
          calls.map(async ({ id, method, path }) => {
            const { status } = await fetch(path, { method, headers, body: '{}' })
            return [id, status] as const
          }),
        ),
      { calls, headers: { 'Content-Type': 'application/json', 'Tributary-Workspace': workspace.slug } },
    )
    expect(statuses.filter(([, status]) => status !== 403)).toEqual([])
  })

  /** Gives every screen something that others could change, and returns the screens' paths. */
  async function fillScreens(workspace: BuiltWorkspace): Promise<string[]> {
    const call = createClient({ url: api, token: workspace.key })
    const link = await buildLink(visiting.platform, workspace)
    const deleted = await buildLink(visiting.platform, workspace)
    await call('deleteLink', { params: { linkId: deleted.id } })
    await call('createFolder', { body: { name: 'Launch' } })
    await call('createTag', { body: { name: 'Spring' } })
    await call('createUtmTemplate', { body: { name: 'Letters', utm_source: 'newsletter' } })
    await call('createView', { body: { name: 'All', screen: 'links', query: {}, visibility: 'shared' } })
    const lists = ['', '/deleted', '/folders', '/tags', '/utm-templates', '/import', `/${link.id}`]
    const { id: webhookId } = await call('createWebhook', {
      body: { name: 'Shop', url: 'https://localhost/', triggers: ['link.created'] },
    })
    await call('testWebhook', { params: { id: webhookId } })
    const settings = [
      'general',
      'members',
      'invites',
      'roles',
      'keys',
      'tracking',
      'webhooks',
      'audit',
      'usage',
      'account',
    ]
    return [
      '',
      ...lists.map((path) => `/links${path}`),
      '/domains',
      `/domains/${workspace.domain}`,
      ...settings.map((name) => `/settings/${name}`),
      `/settings/webhooks/${webhookId}`,
    ]
  }

  async function join(workspace: BuiltWorkspace, email: string): Promise<Page> {
    const invites = await createClient({ url: api, token: workspace.key })('listInvites')
    const id = invites.find((invite) => invite.email === email)?.id ?? ''
    const { link } = await issueInviteLink(visiting.platform, id)
    const context = await visiting.browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce' })
    const page = await context.newPage()
    page.setDefaultTimeout(patienceMs)
    // The links that the server prints have its public address, which is another one in tests.
    const { pathname, search } = new URL(link)
    await page.goto(api + pathname + search)
    await page.getByLabel('Your name').fill('Vera Viewer')
    await page.getByLabel('New password').fill('vermilion teapot 7')
    await page.getByRole('button', { name: 'Create account and join' }).click()
    await page.waitForURL(`${api}/app/${workspace.slug}`)
    return page
  }
})

/** Names of what can be pressed and says that it changes something. Steps of the checklist only unfold. */
async function findWriting(page: Page): Promise<string[]> {
  const pressable = page.locator(
    'button:enabled:not([aria-expanded]:not([aria-haspopup])), a[href], [role=menuitem]:not([aria-disabled=true])',
  )
  const names = await pressable.evaluateAll((nodes) =>
    nodes.map((node) => (node.getAttribute('aria-label') ?? node.textContent ?? '').trim()),
  )
  return names.filter((name) => writing.test(name))
}

/** Requests that the table of roles does not grant a viewer. */
function watchRefused(page: Page): string[] {
  const granted = writes.filter(({ scope }) => includesScope(viewer, scope))
  const patterns = granted.map(({ method, path }) => RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`, 'i'))
  const sent: string[] = []
  page.on('request', (request) => {
    const asked = `${request.method()} ${new URL(request.url()).pathname}`
    if (request.method() !== 'GET' && !patterns.some((pattern) => pattern.test(asked))) sent.push(asked)
  })
  return sent
}

/** The path of an operation for this workspace, and for nothing else that exists. */
function fillPath(path: string, slug: string): string {
  return path.replace(/^\/workspaces\/\{\w+\}/, `/workspaces/${slug}`).replaceAll(/\{\w+\}/g, 'none')
}

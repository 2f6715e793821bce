import type { Page } from 'playwright-core'
import type { Screen } from './screen.ts'

/** The settings, and what their pages share. */
export const settingsScreens: Screen[] = [
  { name: 'settings-general', path: '/settings/general' },
  { name: 'settings-members', isInDocs: true, path: '/settings/members' },
  { name: 'settings-invites', path: '/settings/invites' },
  { name: 'settings-roles', path: '/settings/roles' },
  { name: 'settings-keys', path: '/settings/keys' },
  { name: 'settings-tracking', path: '/settings/tracking' },
  {
    name: 'settings-tracking-check',
    isInDocs: true,
    path: '/settings/tracking',
    prepare: async (page) => {
      const { origin } = new URL(page.url())
      await page.getByLabel('Address of a page').fill(`${origin}/docs/`)
      await page.getByRole('button', { name: 'Check page' }).click()
      await page.getByText('The script tag is missing').waitFor()
      const address = (await page.getByRole('link', { name: 'Open the page' }).getAttribute('href')) ?? ''
      const check = new URL(address).searchParams.get('trib_check')
      await page.request.post(`${origin}/install-checks/reports`, {
        headers: { referer: 'https://acme.com/pricing' },
        data: { check, path: '/pricing', version: '0.1.0' },
      })
      await page.getByText('The script is installed').waitFor()
    },
  },
  { name: 'settings-webhooks', path: '/settings/webhooks', prepare: (page) => openWebhook(page) },
  {
    name: 'settings-webhook-drawer',
    path: '/settings/webhooks',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Create webhook' }).first().click()
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'settings-webhook-delivery',
    isInDocs: true,
    path: '/settings/webhooks',
    prepare: async (page) => {
      await openWebhook(page)
      await page.getByRole('link', { name: 'Shop' }).first().click()
      await page.getByRole('button', { name: 'Send test event' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Trigger').selectOption('sale.created')
      await dialog.getByRole('button', { name: 'Send test event' }).click()
      await dialog.getByRole('link', { name: 'Open the delivery' }).click()
      await page.getByRole('dialog', { name: 'sale.created' }).getByText('No response').first().waitFor()
    },
  },
  { name: 'settings-audit', path: '/settings/audit' },
  {
    name: 'settings-audit-entry',
    isInDocs: true,
    path: '/settings/audit',
    prepare: async (page) => {
      await page.locator('[data-row-link]').first().click()
      await page.getByRole('dialog').getByRole('heading', { name: 'Changes' }).waitFor()
    },
  },
  { name: 'settings-usage', path: '/settings/usage' },
  { name: 'settings-account', path: '/settings/account' },
  { name: 'settings-notifications', isInDocs: true, path: '/settings/notifications' },
  {
    name: 'share-form',
    isInDocs: true,
    path: '/links',
    prepare: async (page) => {
      await openShare(page)
      await page.getByLabel('Ask for a password').click()
    },
  },
  { name: 'share-pages', path: '/links', prepare: createShare },
  { name: 'settings-shares', path: '/settings/shares' },
  {
    name: 'share',
    isInDocs: true,
    path: '/links',
    prepare: async (page) => {
      await createShare(page)
      const address = await page
        .getByRole('link', { name: /as a visitor$/ })
        .first()
        .getAttribute('href')
      await page.goto(address ?? '')
      await page
        .getByRole('button', { name: /^Only / })
        .first()
        .waitFor()
    },
  },
  {
    name: 'settings-key-drawer',
    isInDocs: true,
    path: '/settings/keys',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Create key' }).first().click()
      await page.getByLabel('What is it for?').selectOption('custom')
    },
  },
  {
    name: 'settings-delete',
    path: '/settings/general',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Delete workspace' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
]

/** Makes sure that there is a webhook, whose receiver does not answer. */
async function openWebhook(page: Page): Promise<void> {
  await page
    .getByText(/No webhooks yet|Failing|Active/)
    .first()
    .waitFor()
  if ((await page.getByRole('link', { name: 'Shop' }).count()) > 0) return
  await page.getByRole('button', { name: 'Create webhook' }).first().click()
  await page.getByLabel('Name').fill('Shop')
  await page.getByLabel('Address of the receiver').fill('http://localhost:47999/webhooks')
  await page.getByRole('dialog').getByRole('button', { name: 'Create webhook' }).click()
  await page.getByRole('button', { name: 'I have stored the secret' }).click()
  await page.getByRole('link', { name: 'Shop' }).waitFor()
}

/** Opens the form for a new public page of the first link. */
async function openShare(page: Page): Promise<void> {
  await page.locator('[data-row-link]').first().click()
  await page.getByRole('button', { name: 'Share statistics' }).click()
  const another = page.getByRole('button', { name: 'Create another page' })
  const title = page.getByLabel('Title', { exact: true })
  await another.or(title).first().waitFor()
  if (await another.isVisible()) await another.click()
  await title.fill('Spring campaign')
}

async function createShare(page: Page): Promise<void> {
  await openShare(page)
  await page.getByLabel('Show leads, sales and revenue').click()
  await page.getByRole('button', { name: 'Create page' }).click()
  await page.getByRole('dialog', { name: 'Public pages' }).waitFor()
}

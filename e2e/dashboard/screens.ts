import type { Screen } from './screen.ts'
import { settingsScreens } from './settings-screens.ts'

/** Every screen and state that `npm run screenshots` takes a picture of. */
export const screens: Screen[] = [
  {
    name: 'home',
    isInDocs: true,
    path: '',
    prepare: (page) => page.getByRole('heading', { name: 'Top countries' }).waitFor(),
  },
  { name: 'home-first-steps', isInDocs: true, path: '', workspace: 'demo-pro' },
  {
    name: 'home-script',
    path: '',
    workspace: 'demo-pro',
    prepare: (page) => page.getByRole('button', { name: /^Put the script/ }).click(),
  },
  { name: 'new-workspace', path: '/app/new', isOutside: true },
  {
    name: 'analytics',
    isInDocs: true,
    path: '/analytics',
    prepare: (page) => page.getByRole('row').nth(20).waitFor(),
  },
  {
    name: 'analytics-compared',
    isInDocs: true,
    path: '/analytics?period=2026-11-09..2026-11-15&compare=previous',
    prepare: (page) => page.getByRole('row').nth(20).waitFor(),
  },
  { name: 'analytics-funnel', path: '/analytics?chart=funnel&measure=saleAmount&period=90d' },
  { name: 'analytics-empty', path: '/analytics?period=2020-01-01..2020-01-31' },
  {
    name: 'analytics-all',
    path: '/analytics',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'All: Countries' }).click()
      await page.getByRole('checkbox').first().click()
    },
  },
  {
    name: 'analytics-period',
    path: '/analytics',
    prepare: (page) => page.getByRole('button', { name: /^Last 30 days/ }).click(),
  },
  { name: 'links', isInDocs: true, path: '/links' },
  { name: 'links-no-match', path: '/links?search=nothing-has-this' },
  { name: 'links-deleted', path: '/links/deleted' },
  {
    name: 'link',
    isInDocs: true,
    path: '/links',
    prepare: async (page) => {
      await page.locator('[data-row-link]').first().click()
      await page.getByRole('heading', { name: 'History' }).waitFor()
      await page.getByRole('img', { name: 'QR code' }).waitFor()
      await page.waitForTimeout(2_000)
    },
  },
  {
    name: 'links-selected',
    isInDocs: true,
    path: '/links',
    prepare: async (page) => {
      for (const index of [1, 2, 3])
        await page
          .getByRole('checkbox', { name: /^Select [^a]/ })
          .nth(index)
          .click()
    },
  },
  {
    name: 'links-columns',
    path: '/links',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Columns and density' }).click()
      await page.getByLabel('Dense rows').waitFor()
    },
  },
  {
    name: 'links-views',
    path: '/links?state=active&period=90d',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Views' }).first().click()
      await page.getByLabel('Name of the view').fill('Running campaigns')
    },
  },
  {
    name: 'links-filters',
    path: '/links?state=active&created=90d',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Created', exact: false }).first().click()
      await page.getByRole('button', { name: 'Show these days' }).waitFor()
    },
  },
  {
    name: 'builder',
    isInDocs: true,
    path: '/links',
    prepare: async (page) => {
      await page.keyboard.press('c')
      const builder = page.getByRole('dialog')
      await builder.getByLabel('Destination').fill('https://acme.com/pricing?plan=team')
      await builder.getByLabel('Slug').fill('winter-26')
      await builder.getByRole('button', { name: 'UTM' }).click()
      await builder.getByLabel('Source').fill('newsletter')
      await builder.locator('img').first().waitFor()
      await page.waitForTimeout(900)
    },
  },
  {
    name: 'builder-targeting',
    path: '/links',
    prepare: async (page) => {
      await page.keyboard.press('c')
      const builder = page.getByRole('dialog')
      await builder.getByLabel('Destination').fill('https://acme.com/pricing')
      await builder.getByRole('button', { name: 'Targeting' }).click()
      await builder.getByLabel('Android').fill('https://play.example.com/acme')
      await builder.getByRole('button', { name: 'A/B test' }).click()
      await builder.getByRole('button', { name: 'Start a test' }).click()
      await builder.getByLabel('Destination B, 50 %').fill('https://acme.com/pricing-b')
      await builder.getByLabel('Destination B, 50 %').scrollIntoViewIfNeeded()
    },
  },
  {
    name: 'builder-preview',
    path: '/links',
    prepare: async (page) => {
      await page.keyboard.press('c')
      const builder = page.getByRole('dialog')
      await builder.getByLabel('Destination').fill('https://acme.com/pricing')
      await builder.getByRole('button', { name: 'Preview' }).click()
      await builder.getByLabel('Own title, description and picture').click()
      await builder.getByLabel('Title', { exact: true }).fill('Plans for every team')
      await builder.getByLabel('Description', { exact: true }).fill('Start free; pay when you grow.')
      await builder.locator('[data-network]').scrollIntoViewIfNeeded()
    },
  },
  { name: 'folders', path: '/links/folders' },
  { name: 'tags', path: '/links/tags' },
  { name: 'utm-templates', path: '/links/utm-templates' },
  { name: 'import', path: '/links/import' },
  {
    name: 'import-checked',
    isInDocs: true,
    path: '/links/import',
    prepare: async (page) => {
      const lines = ['Link,Title,Long URL,Tags', 'bit.ly/a,Sale,https://example.com/a,press', 'bit.ly/b,Broken,,']
      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'bitly.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\n')) })
      await page.getByRole('button', { name: 'Check the rows' }).click()
      await page.getByText('1 link can be imported').waitFor()
    },
  },
  {
    name: 'qr-designer',
    isInDocs: true,
    path: '/links',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Actions' }).first().click()
      await page.getByRole('menuitem', { name: 'QR code' }).click()
      const designer = page.getByRole('dialog')
      await designer.getByRole('radio', { name: 'Dots' }).click()
      await designer.getByRole('radio', { name: 'Circle' }).click()
      await designer.getByLabel('Code', { exact: true }).fill('#0b3c49')
      await designer.getByLabel('Text below the code').fill('Scan me')
      await designer.getByText(/^It scans:/).waitFor()
      await page.waitForTimeout(500)
    },
  },
  {
    name: 'qr-designer-unreadable',
    path: '/links',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Actions' }).first().click()
      await page.getByRole('menuitem', { name: 'QR code' }).click()
      const designer = page.getByRole('dialog')
      await designer.getByLabel('Code', { exact: true }).fill('#ffffff')
      await designer.getByLabel('Background', { exact: true }).fill('#808080')
      await designer.getByLabel('Another colour for the markers').click()
      await designer.getByLabel('Markers', { exact: true }).fill('#000000')
      await designer.getByText('It does not scan.').waitFor()
    },
  },
  {
    name: 'events',
    isInDocs: true,
    path: '/events',
    prepare: (page) => page.getByText('Live', { exact: true }).waitFor(),
  },
  {
    name: 'events-cell',
    path: '/events',
    prepare: async (page) => {
      const cell = page.locator('[data-row] button[aria-haspopup=menu]').nth(1)
      if (await cell.count()) await cell.click()
    },
  },
  { name: 'events-leads', path: '/events?event=leads' },
  {
    name: 'events-sale',
    isInDocs: true,
    path: '/events?event=sales',
    prepare: async (page) => {
      await page.locator('[data-row-link]').first().click()
      await page.getByRole('heading', { name: 'Journey of the customer' }).waitFor()
      await page.waitForTimeout(2_000)
    },
  },
  {
    name: 'events-json',
    path: '/events',
    prepare: async (page) => {
      await page.locator('[data-row-link]').first().click()
      await page.getByRole('button', { name: 'JSON' }).click()
    },
  },
  { name: 'events-no-match', path: '/events?country=AQ' },
  { name: 'events-past', path: '/events?period=2020-01-01..2020-01-31' },
  { name: 'customers', isInDocs: true, path: '/customers?sort=saleAmount' },
  { name: 'customers-no-match', path: '/customers?search=nothing-has-this' },
  {
    name: 'customer',
    isInDocs: true,
    path: '/customers?sort=saleAmount',
    prepare: async (page) => {
      await page.locator('[data-row-link]').first().click()
      await page.getByRole('button', { name: 'Details' }).first().click()
      await page.waitForTimeout(500)
    },
  },
  {
    name: 'customer-erase',
    path: '/customers?sort=saleAmount',
    prepare: async (page) => {
      await page.locator('[data-row-link]').first().click()
      await page.getByRole('button', { name: 'Erase customer' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  { name: 'customer-unknown', path: '/customers/cus_unknown' },
  { name: 'partners', path: '/partners' },
  { name: 'domains', path: '/domains' },
  { name: 'domains-no-match', path: '/domains?search=nothing-has-this' },
  {
    name: 'domain',
    path: '/domains',
    prepare: async (page) => {
      await page.locator('[data-row-link]').first().click()
      await page.getByText(/^Checked at /).waitFor()
    },
  },
  {
    name: 'domain-pending',
    isInDocs: true,
    path: '/domains',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Add domain' }).first().click()
      await page.getByLabel('Name').fill(`go-${Date.now()}.example.com`)
      await page.keyboard.press('Enter')
      await page.getByText(/^Checked at /).waitFor()
    },
  },
  {
    name: 'domain-drawer',
    path: '/domains',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Add domain' }).first().click()
      await page.getByLabel('Name').fill('not a host')
      await page.keyboard.press('Enter')
      await page.getByText('Must be a host name').waitFor()
    },
  },
  {
    name: 'domain-delete',
    path: '/domains',
    prepare: async (page) => {
      await page
        .getByRole('button', { name: /^Actions for/ })
        .first()
        .click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await page.getByText(/on this domain/).waitFor()
    },
  },
  ...settingsScreens,
  {
    name: 'operator',
    isInDocs: true,
    path: '/app/_operator',
    isOutside: true,
    prepare: (page) => page.getByText('PostgreSQL').first().waitFor(),
  },
  { name: 'not-found', path: '/no/such/page' },
  { name: 'sign-in', path: '/sign-in', isOutside: true },
  { name: 'account', path: '/account', isOutside: true },
  {
    name: 'palette',
    path: '/links',
    prepare: async (page) => {
      await page.keyboard.press('ControlOrMeta+k')
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'palette-found',
    path: '/links',
    prepare: async (page) => {
      await page.keyboard.press('ControlOrMeta+k')
      await page.getByRole('dialog').waitFor()
      await page.keyboard.type('do')
      await page.waitForTimeout(600)
    },
  },
  {
    name: 'shortcuts',
    path: '/links',
    prepare: async (page) => {
      await page.keyboard.press('?')
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'account-menu',
    path: '/links',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Account' }).filter({ visible: true }).click()
      await page.getByRole('menu').waitFor()
    },
  },
  {
    name: 'workspace-switch',
    path: '/links',
    prepare: async (page) => {
      await page
        .getByRole('button', { name: /Switch workspace/ })
        .filter({ visible: true })
        .click()
      await page.getByRole('menu').waitFor()
    },
  },
  {
    name: 'offline',
    path: '/links',
    prepare: async (page) => {
      await page.context().setOffline(true)
      await page.getByText('The server can’t be reached').waitFor()
    },
  },
]

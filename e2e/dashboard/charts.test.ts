import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { expectAccessible, lacksBrowser, openBrowser, type Visiting, widths } from './browser.ts'
import { type Development, openDevelopment } from './development.ts'

/* Charts on the page of parts, as screen readers, keys, pointers and fingers find them. */
describe.skipIf(lacksBrowser)('charts', () => {
  let visiting: Visiting
  let development: Development
  beforeAll(async () => {
    visiting = await openBrowser()
    development = await openDevelopment()
  })
  afterAll(async () => {
    await development?.[Symbol.asyncDispose]()
    await visiting?.[Symbol.asyncDispose]()
  })

  // The page of parts is never at rest.
  afterEach(() => Promise.all(visiting.browser.contexts().map((context) => context.close())))

  type Section = 'Charts' | 'Funnels' | 'Maps'

  async function openSection(section: Section, given?: Parameters<Visiting['visit']>[0]) {
    const { page } = await visiting.visit(given)
    await show(page, section)
    return page
  }
  async function show(page: Page, section: Section) {
    await page.goto(`${development.url}/app/_parts?section=${section}`)
    await page.getByRole('figure').first().waitFor({ timeout: 120_000 })
  }

  test.each(['a line', 'bars'])('a chart as %s is read as a slider with its name, and as a table', async (form) => {
    const name = `A month compared as ${form}: an example`
    const figure = findFigure(await openSection('Charts'), name)
    const tree = await readTree(figure)
    expect(tree).toContain(`- slider "${name}"`)
    expect(tree).toContain(`- table "${name}":`)
    expect(tree).toContain(
      '- columnheader "Day"\n        - columnheader "Clicks"\n        - columnheader "Before"\n        - columnheader "Notes"',
    )
    const rows = figure.getByRole('row')
    expect(await rows.count()).toBe(31)
    expect(await readCells(rows.nth(5))).toEqual(['Day 5', '1,335', 'Before, day 5: 465', 'Newsletter 44'])
    expect(await readCells(rows.nth(22))).toEqual([
      ...['Day 22', '780', 'Before, day 22: 1,013'],
      expect.stringMatching(/^Site was down; Long note /),
    ])
    expect((await readCells(rows.last()))[1]).toBe('1,847, not complete yet')
  })

  test('a chart compared with more or fewer days has a row for each', async () => {
    const page = await openSection('Charts')
    const more = findFigure(page, 'Compared with more days as a line: an example').getByRole('row')
    expect(await more.count()).toBe(31)
    expect(await readCells(more.nth(10))).toEqual(['Day 10', '491, not complete yet', 'Before, day 10: 934'])
    expect(await readCells(more.last())).toEqual(['–', '', 'Before, day 30: 883'])
    const fewer = findFigure(page, 'Compared with fewer days as bars: an example').getByRole('row')
    expect(await readCells(fewer.last())).toEqual(['Day 31', '1,725', ''])
  })

  test('a chart without values is a picture with its name', async () => {
    const page = await openSection('Charts')
    for (const form of ['a line', 'bars'])
      await page.getByRole('img', { name: `Nothing as ${form}: an example` }).waitFor()
  })

  test('keys move within a chart, which speaks the value, and do not reach the page', async () => {
    const page = await openSection('Charts')
    const slider = page.getByRole('slider', { name: 'A month compared as a line: an example' })
    await page.getByRole('slider', { name: 'A month as bars: an example' }).focus()
    await page.evaluate('pressed = []; addEventListener("keydown", ({ key }) => pressed.push(key))')
    await page.keyboard.press('Tab')
    const spoken = () => slider.getAttribute('aria-valuetext')
    expect(await spoken()).toBe('Day 30: 1,847, not complete yet; Before, Before, day 30: 883')
    await expectAccessible(page, 'figure:has(:focus)')
    await page.keyboard.press('ArrowLeft')
    expect(await spoken()).toMatch(/^Day 29: /)
    for (const key of ['PageDown', 'PageDown', 'ArrowLeft']) await page.keyboard.press(key)
    expect(await spoken()).toMatch(/^Day 22: 780; Before, Before, day 22: 1,013; Site was down; Long note/)
    await page.keyboard.press('Home')
    expect(await spoken()).toMatch(/^Day 1: 800; /)
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowRight')
    expect(await slider.getAttribute('aria-valuenow')).toBe('1')
    await page.keyboard.press('Enter')
    await page.getByText('Chosen: 2').waitFor()
    await page.keyboard.press('End')
    expect(await slider.getAttribute('aria-valuenow')).toBe('29')
    await page.keyboard.press('Escape')
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true)
    expect(await page.evaluate('pressed')).toEqual(['Tab'])
    await page.keyboard.press('Tab')
    expect(await focusedName(page)).toBe('A month compared as bars: an example')
  })

  test('the pointer reads values and chooses a position', async () => {
    const page = await openSection('Charts')
    const figure = findFigure(page, 'A month compared as bars: an example')
    await figure.scrollIntoViewIfNeeded()
    const { width = 0 } = (await figure.boundingBox()) ?? {}
    await figure.hover({ position: { x: width * 0.07 + 45, y: 60 } })
    const tooltip = figure.locator('.shadow-overlay')
    expect(await tooltip.textContent()).toMatch(/^Day \d+[\d,]+Before, day \d+/)
    await figure.click({ position: { x: width - 12, y: 60 } })
    await page.getByText('Chosen: 30').waitFor()
    expect(await tooltip.textContent()).toContain('not complete yet')
    await page.mouse.move(0, 0)
    await tooltip.waitFor({ state: 'detached' })
  })

  test('a finger reads values first, and chooses with its second touch', async () => {
    const { context } = await visiting.visit()
    const viewport = { width: widths.small, height: 780 }
    const storageState = await context.storageState()
    const page = await (await visiting.browser.newContext({ viewport, hasTouch: true, storageState })).newPage()
    await show(page, 'Charts')
    const figure = findFigure(page, 'A month compared as a line: an example')
    await figure.scrollIntoViewIfNeeded()
    const { x = 0, y = 0, width = 0 } = (await figure.boundingBox()) ?? {}
    const touch = () => page.touchscreen.tap(x + width - 10, y + 60)
    await touch()
    await figure.getByText('not complete yet').first().waitFor()
    expect(await page.getByText('Chosen: ').count()).toBe(0)
    await touch()
    await page.getByText('Chosen: 30').waitFor()
  })

  test('a funnel is read as a picture with its name, and as a table with its rates', async () => {
    const page = await openSection('Funnels')
    const figure = findFigure(page, 'Funnel: an example')
    await figure.getByRole('img', { name: 'Funnel: an example' }).waitFor()
    const rows = figure.getByRole('table', { name: 'Funnel: an example' }).getByRole('row')
    expect(await Promise.all([0, 1, 2, 3].map((index) => readCells(rows.nth(index))))).toEqual([
      ['Step', 'Count', 'Of the step before', 'Of clicks'],
      ['Clicks', '48,219', '', ''],
      ['Leads', '12,904', '26.8%', '26.8%'],
      ['Sales', '4,120', '31.9%', '8.5%'],
    ])
    const wider = findFigure(page, 'Funnel that widens: an example').getByRole('row')
    expect(await readCells(wider.nth(2))).toEqual(['Leads', '340', '× 1.7', '× 1.7'])
    expect(await readCells(wider.nth(3))).toEqual(['Sales', '100', '29.4%', '50%'])
    const nothing = findFigure(page, 'Funnel without anything: an example').getByRole('row')
    expect(await readCells(nothing.last())).toEqual(['Sales', '0', '–', '–'])
  })

  test('a map is read as a list of countries by value, and as a table with those too small for it', async () => {
    const page = await openSection('Maps')
    const name = 'A map of few countries: an example'
    const figure = findFigure(page, name)
    const countries = ['Germany: 31,204', 'Austria: 9,022', 'Switzerland: 3,180', 'Liechtenstein: 204']
    const list = figure.getByRole('listbox', { name })
    expect(await readTree(list)).toBe(
      [`- listbox "${name}":`, ...countries.map((one) => `  - option "${one}"`)].join('\n'),
    )
    const rows = figure.getByRole('table', { name }).getByRole('row')
    expect(await readCells(rows.nth(4))).toEqual(['Liechtenstein', '204'])
    const many = findFigure(page, 'A map of many countries: an example')
    expect(await many.getByRole('option', { name: /Gibraltar/ }).count()).toBe(0)
    expect(await readCells(many.getByRole('row').last())).toEqual(['Gibraltar', '299'])
    await page.getByRole('img', { name: 'A map of none: an example' }).waitFor()
  })

  test('keys go through the countries of a map, which is one stop, and choose one', async () => {
    const page = await openSection('Maps', { width: widths.small })
    const list = page.getByRole('listbox', { name: 'A map of few countries: an example' })
    await page.getByRole('listbox', { name: 'A map of many countries: an example' }).focus()
    await page.keyboard.press('Tab')
    const active = async () => page.locator(`[id="${await list.getAttribute('aria-activedescendant')}"]`)
    const spoken = async () => (await active()).getAttribute('aria-label')
    expect(await spoken()).toBe('Germany: 31,204')
    await expectAccessible(page, 'figure:has(:focus)')
    await page.keyboard.press('ArrowRight')
    expect(await spoken()).toBe('Austria: 9,022')
    await page.keyboard.press('End')
    expect(await spoken()).toBe('Liechtenstein: 204')
    await page.keyboard.press('Enter')
    expect(await (await active()).getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('Enter')
    expect(await (await active()).getAttribute('aria-selected')).toBe('false')
    await page.keyboard.press('Escape')
    expect(await list.getAttribute('aria-activedescendant')).toBeNull()
  })

  test('the pointer names a country and chooses it; one without a value is named only', async () => {
    const page = await openSection('Maps')
    const figure = findFigure(page, 'A map of many countries: an example')
    const country = (code: string) => figure.locator(`[data-code=${code}]`)
    await country('AU').hover()
    await figure.getByText('Australia', { exact: true }).filter({ visible: true }).first().waitFor()
    await country('AU').click()
    expect(await country('AU').getAttribute('aria-selected')).toBe('true')
    await country('DZ').click()
    expect(await figure.locator('.shadow-overlay').textContent()).toBe('Algeria 0')
    expect(await figure.getByRole('option', { selected: true }).count()).toBe(2)
  })
})

function findFigure(page: Page, name: string): Locator {
  return page.getByRole('figure').filter({ has: page.getByRole('table', { name, exact: true }) })
}

/** The accessible tree, without the quotes of YAML. */
async function readTree(part: Locator): Promise<string> {
  return (await part.ariaSnapshot()).replaceAll("'", '')
}

async function readCells(row: Locator): Promise<string[]> {
  return row.locator('th, td').allTextContents()
}

function focusedName(page: Page): Promise<string | null> {
  return page.locator(':focus').getAttribute('aria-label')
}

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../server/test/build.ts'
import { lacksBrowser, openBrowser, type Visiting, type Visitor } from './browser.ts'
import { measurePace } from './pace.ts'

/** Each figure is the best of so many tries: other work on the machine only ever makes it worse. */
const tries = 5
/** Loads take seconds, in which other work is likelier: there are more tries while a budget is missed. */
const mostLoads = 15
const budgets = { lcp: 1_500, interactive: 2_000, warm: 600 }
const line = { downloadThroughput: 10_000_000 / 8, uploadThroughput: 10_000_000 / 8, latency: 40 }

describe.skipIf(lacksBrowser)('speed, with a CPU four times slower and 10 Mbit/s with 40 ms', () => {
  let visiting: Visiting
  let workspace: BuiltWorkspace
  beforeAll(async () => {
    visiting = await openBrowser()
    workspace = await buildWorkspace(visiting.platform)
    for (let number = 1; number <= 50; number += 1)
      await buildLink(visiting.platform, workspace, { key: `link-${number}`, title: `Link ${number}` })
  })
  afterAll(() => visiting?.[Symbol.asyncDispose]())

  const { api } = inject('server')

  test('the first load of links paints within 1.5 s and is interactive within 2 s, and again within 0.6 s', async () => {
    const loads: { lcp: number; interactive: number; warm: number }[] = []
    const best = (name: keyof (typeof loads)[number]) => Math.round(Math.min(...loads.map((load) => load[name])))
    const isMissed = () =>
      best('lcp') > budgets.lcp || best('interactive') > budgets.interactive || best('warm') > budgets.warm
    for (let turn = 0; turn < tries || (turn < mostLoads && isMissed()); turn += 1) {
      const visitor = await visiting.visit({ workspace })
      const { page } = visitor
      await noteRows(page)
      const slowness = await slow(visitor)
      await page.goto(`${api}/app/${workspace.slug}/links`)
      const first = await readLoad(page)
      // Browsers store compiled code at the second load.
      await page.reload()
      await readLoad(page)
      await page.reload()
      const again = await readLoad(page)
      loads.push({ lcp: first.lcp / slowness, interactive: first.interactive / slowness, warm: again.lcp / slowness })
      await visitor.context.close()
    }
    console.info(`links: LCP ${best('lcp')} ms, interactive ${best('interactive')} ms, warm ${best('warm')} ms`)
    expect(best('lcp')).toBeLessThanOrEqual(budgets.lcp)
    expect(best('interactive')).toBeLessThanOrEqual(budgets.interactive)
    expect(best('warm')).toBeLessThanOrEqual(budgets.warm)
  })

  test('the sign-in page paints within 0.8 s', async () => {
    const times: number[] = []
    for (let turn = 0; turn < tries; turn += 1) {
      const visitor = await visiting.visit({ workspace })
      await visitor.context.clearCookies()
      const slowness = await slow(visitor)
      await visitor.page.goto(`${api}/sign-in`)
      times.push((await largestPaint(visitor.page)) / slowness)
      await visitor.context.close()
    }
    console.info(`sign-in: LCP ${Math.round(Math.min(...times))} ms`)
    expect(Math.min(...times)).toBeLessThanOrEqual(800)
  })

  test('the palette opens within 50 ms, the builder within 100 ms, and three of four interactions paint within 100 ms', async () => {
    const visitor = await visiting.visit({ workspace })
    const { page, open } = visitor
    await open('/links')
    await page.waitForTimeout(3_000)
    const slowness = await slow(visitor)
    const palette = await best(() => measureKey(page, 'Control+k', '[role=dialog] input'))
    const builder = await best(() => measureKey(page, 'c', '[role=dialog] input[type=url]'))
    const p75 = await best(async () => {
      const interactions = (await measureInteractions(page)).sort((a, b) => a - b)
      return interactions[Math.ceil(interactions.length * 0.75) - 1] ?? 0
    })
    console.info(`palette ${palette} ms, builder ${builder} ms, three of four interactions within ${p75} ms`)
    expect(palette / slowness).toBeLessThanOrEqual(50)
    expect(builder / slowness).toBeLessThanOrEqual(100)
    expect(p75 / slowness).toBeLessThanOrEqual(100)
  })

  test('another filter dims the list within 50 ms', async () => {
    const visitor = await visiting.visit({ workspace })
    const { page, open } = visitor
    await open('/links')
    await page.waitForTimeout(2_000)
    const slowness = await slow(visitor)
    const dimmed = await best(async () => {
      const took = await page.evaluate<number>(`new Promise((resolve) => {
        const header = [...document.querySelectorAll('th button, [role=columnheader] button')].find((one) => /clicks/i.test(one.textContent))
        const started = performance.now()
        const look = () => document.querySelector('[aria-busy=true]') ? resolve(performance.now() - started) : requestAnimationFrame(look)
        header.click()
        look()
      })`)
      await page.waitForLoadState('networkidle')
      return took
    })
    console.info(`dimmed after ${Math.round(dimmed)} ms`)
    expect(dimmed / slowness).toBeLessThanOrEqual(50)
  })
})

async function best(measure: () => Promise<number>): Promise<number> {
  const times: number[] = []
  for (let turn = 0; turn < tries; turn += 1) times.push(await measure())
  return Math.min(...times)
}

/** Makes CPU and line as slow as those of a phone. Returns how much slower still this machine is. */
async function slow({ page, context }: Visitor): Promise<number> {
  const { throttling, slowness } = await measurePace(page)
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', { offline: false, ...line })
  await session.send('Emulation.setCPUThrottlingRate', { rate: throttling })
  return slowness
}

/** Notes when the list has its rows and answers. Playwright's own waiting would take the page's time. */
const noteRows = (page: Page) =>
  page.addInitScript(`{
    const look = () => {
      if (!document.querySelector('[data-row]')) return requestAnimationFrame(look)
      setTimeout(async () => { globalThis.load = { interactive: performance.now(), lcp: await largestPaint() } }, 0)
    }
    const largestPaint = () => new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime)).observe({ type: 'largest-contentful-paint', buffered: true }))
    requestAnimationFrame(look)
  }`)

async function readLoad(page: Page): Promise<{ interactive: number; lcp: number }> {
  for (;;) {
    await page.waitForTimeout(1_500)
    const load = await page.evaluate<{ interactive: number; lcp: number } | null>('globalThis.load ?? null')
    if (load) return load
  }
}

function largestPaint(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(Math.round(list.getEntries().at(-1).startTime)))
      .observe({ type: 'largest-contentful-paint', buffered: true })
  })`)
}

/** How long after a key the selector is in the page, to the next frame; Escape closes what it opened. */
async function measureKey(page: Page, key: string, selector: string): Promise<number> {
  await page.evaluate(`globalThis.shown = new Promise((resolve) => {
    addEventListener('keydown', ({ timeStamp }) => {
      const look = () => document.querySelector('${selector}') ? resolve(performance.now() - timeStamp) : requestAnimationFrame(look)
      requestAnimationFrame(look)
    }, { once: true, capture: true })
  }); undefined`)
  await page.keyboard.press(key)
  const took = await page.evaluate<number>('shown')
  await page.keyboard.press('Escape')
  await page.locator(selector).waitFor({ state: 'detached' })
  return Math.round(took)
}

/** The times from input to paint of what people do in the list, as the browser reports them. */
async function measureInteractions(page: Page): Promise<number[]> {
  await page.evaluate(`{
    globalThis.interactions = new Map()
    new PerformanceObserver((list) => {
      for (const { interactionId, duration } of list.getEntries())
        if (interactionId) interactions.set(interactionId, Math.max(duration, interactions.get(interactionId) ?? 0))
    }).observe({ type: 'event', durationThreshold: 16 })
  }`)
  for (const key of ['j', 'j', 'x', 'k', 'x', 'Escape']) await page.keyboard.press(key)
  await page.getByRole('button', { name: 'Columns and density' }).click()
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  await page.keyboard.type('link-4')
  await page.keyboard.press('Escape')
  await page.waitForTimeout(1_000)
  return page.evaluate<number[]>('[...interactions.values()]')
}

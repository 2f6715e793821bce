import { request } from 'node:http'
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../server/test/build.ts'
import { lacksBrowser, openBrowser, type Visiting, type Visitor } from './browser.ts'

/** Each figure is the best of so many tries: other work on the machine only ever makes it worse. */
const tries = 5
/** How long the work below takes in Chromium on a quiet machine; a slower or busier one is slowed down less than four times. */
const quietWorkMs = 60
const slowDown = 4
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
    for (let turn = 0; turn < tries; turn += 1) {
      const visitor = await visiting.visit({ workspace })
      await slow(visitor)
      await visitor.page.goto(`${api}/app/${workspace.slug}/links`)
      const interactive = await untilInteractive(visitor.page)
      const lcp = await largestPaint(visitor.page)
      await visitor.page.reload()
      await untilInteractive(visitor.page)
      loads.push({ lcp, interactive, warm: await largestPaint(visitor.page) })
      await visitor.context.close()
    }
    const best = (name: keyof (typeof loads)[number]) => Math.min(...loads.map((load) => load[name]))
    console.log(`links: LCP ${best('lcp')} ms, interactive ${best('interactive')} ms, warm ${best('warm')} ms`)
    expect.soft(best('lcp')).toBeLessThanOrEqual(1_500)
    expect.soft(best('interactive')).toBeLessThanOrEqual(2_000)
    expect.soft(best('warm')).toBeLessThanOrEqual(600)
  })

  test('the sign-in page paints within 0.8 s and has at most 15 kB of scripts', async () => {
    const times: number[] = []
    for (let turn = 0; turn < tries; turn += 1) {
      const visitor = await visiting.visit({ workspace })
      await visitor.context.clearCookies()
      await slow(visitor)
      await visitor.page.goto(`${api}/sign-in`)
      times.push(await largestPaint(visitor.page))
      await visitor.context.close()
    }
    console.log(`sign-in: LCP ${Math.min(...times)} ms`)
    expect(Math.min(...times)).toBeLessThanOrEqual(800)
    expect(await scriptBytes('/sign-in')).toBeLessThanOrEqual(15_000)
  })

  test('the palette opens within 50 ms, the builder within 100 ms, and three of four interactions paint within 100 ms', async () => {
    const visitor = await visiting.visit({ workspace })
    const { page, open } = visitor
    await open('/links')
    await page.waitForTimeout(3_000)
    await slow(visitor)
    const palette = await best(() => measureKey(page, { key: 'k', ctrlKey: true }, '[role=dialog] input'))
    const builder = await best(() => measureKey(page, { key: 'c' }, '[role=dialog] input[type=url]'))
    const interactions = await measureInteractions(page)
    const p75 = interactions.sort((a, b) => a - b)[Math.ceil(interactions.length * 0.75) - 1]
    console.log(`palette ${palette} ms, builder ${builder} ms, interactions ${interactions.join(', ')} ms`)
    expect.soft(palette).toBeLessThanOrEqual(50)
    expect.soft(builder).toBeLessThanOrEqual(100)
    expect.soft(p75).toBeLessThanOrEqual(100)
  })

  test('another filter dims the list within 50 ms', async () => {
    const visitor = await visiting.visit({ workspace })
    const { page, open } = visitor
    await open('/links')
    await page.waitForTimeout(2_000)
    await slow(visitor)
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
    console.log(`dimmed after ${Math.round(dimmed)} ms`)
    expect(dimmed).toBeLessThanOrEqual(50)
  })
})

async function best(measure: () => Promise<number>): Promise<number> {
  const times: number[] = []
  for (let turn = 0; turn < tries; turn += 1) times.push(await measure())
  return Math.min(...times)
}

/** Slows the page down to a quarter of a quiet machine's speed, and its line to that of a phone. */
async function slow({ page, context }: Visitor): Promise<CDPSession> {
  const session = await context.newCDPSession(page)
  const work = await page.evaluate<number>(`(() => {
    const started = performance.now()
    let sum = 0
    for (let index = 0; index < 3e7; index += 1) sum = (sum * 31 + index) % 1000003
    return performance.now() - started + (sum < 0 ? 1 : 0)
  })()`)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', { offline: false, ...line })
  await session.send('Emulation.setCPUThrottlingRate', { rate: Math.max(1, (slowDown * quietWorkMs) / work) })
  return session
}

/** When the list had its rows and answered, since the navigation began. */
async function untilInteractive(page: Page): Promise<number> {
  await page.locator('[data-row]').first().waitFor()
  return page.evaluate<number>('new Promise((resolve) => setTimeout(() => resolve(Math.round(performance.now())), 0))')
}

function largestPaint(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(Math.round(list.getEntries().at(-1).startTime)))
      .observe({ type: 'largest-contentful-paint', buffered: true })
  })`)
}

/** How long after a key the selector is in the page and painted; Escape closes what it opened. */
async function measureKey(page: Page, key: object, selector: string): Promise<number> {
  const took = await page.evaluate<number>(`new Promise((resolve) => {
    const started = performance.now()
    document.body.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...${JSON.stringify(key)} }))
    const look = () => document.querySelector('${selector}') ? resolve(performance.now() - started) : requestAnimationFrame(look)
    look()
  })`)
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

/** Bytes of the scripts that a page of the server has, compressed as it sends them. */
async function scriptBytes(path: string): Promise<number> {
  const { api } = inject('server')
  const html = await (await fetch(api + path)).text()
  const inline = [...html.matchAll(/<script[^>]*>([^<]*)<\/script>/g)].map(([, text]) => text?.length ?? 0)
  const files = [...html.matchAll(/<script[^>]*src="([^"]+)"/g)].map(([, src]) => new URL(src ?? '', api))
  const sizes = await Promise.all(files.map(sizeOf))
  return [...inline, ...sizes].reduce((sum, size) => sum + size, 0)
}

function sizeOf(url: URL): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { 'accept-encoding': 'gzip' } }, async (response) => {
      let bytes = 0
      for await (const chunk of response) bytes += (chunk as Buffer).length
      resolve(bytes)
    })
    asked.on('error', reject).end()
  })
}

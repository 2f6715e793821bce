import type { BrowserContext, Page } from 'playwright-core'
import { measurePace } from './pace.ts'

const turns = 5
/** There are more turns while too few frames are drawn: other work may have been in the way. */
const mostTurns = 30
export const enough = 55 / 60

/**
 * The most frames of a scrolled list, of the most of a bare page: other work on the machine only ever draws fewer. Chromium
 * draws in software here, with most of both cores. Where they are too busy to draw even the same rows at rest, those are the
 * bare page: what is left of the difference is the list's own work.
 */
export async function measureFrames(page: Page, context: BrowserContext): Promise<number> {
  const bare = await context.newPage()
  await bare.setContent('<div style="height: 3600000px; background: linear-gradient(red, blue)"></div>')
  const copy = await openCopy(page, context)
  const slownesses: number[] = []
  const frames = { list: [] as number[], bare: [] as number[], copy: [] as number[] }
  const share = () => {
    const list = Math.min(...slownesses) * Math.max(...frames.list)
    return list / Math.min(Math.max(...frames.bare), Math.max(...frames.copy))
  }
  for (let turn = 0; turn < turns || (turn < mostTurns && share() < enough); turn += 1) {
    slownesses.push((await measurePace(page)).slowness)
    frames.list.push(await countFrames(page))
    frames.bare.push(await countFrames(bare))
    frames.copy.push(await countFrames(copy))
  }
  console.info(`frames in two seconds: ${JSON.stringify(frames)}; slowness ${Math.min(...slownesses)}`)
  return share()
}

/** The page without its scripts, with as many rows as are scrolled past. */
async function openCopy(page: Page, context: BrowserContext): Promise<Page> {
  await page.evaluate('scrollTo(0, 0)')
  await page.locator('[data-index="0"]').waitFor()
  const html = (await page.content()).replace(/<script\b.*?<\/script>/gs, '')
  const copy = await context.newPage()
  const address = new URL('/copy', page.url()).href
  await copy.route(address, (route) => route.fulfill({ body: html, contentType: 'text/html' }))
  await copy.goto(address)
  await copy.evaluate(`{
    const shown = [...document.querySelectorAll('tr[data-row]')]
    const height = shown[0].offsetHeight
    for (let index = shown.length; index < 300; index += 1) {
      const row = shown[index % shown.length].cloneNode(true)
      row.style.top = index * height + 'px'
      shown[0].parentElement.append(row)
    }
  }`)
  return copy
}

/** How many frames the page draws in two seconds while it is scrolled by 2,400 pixels a second, from its top. */
async function countFrames(page: Page): Promise<number> {
  await page.bringToFront()
  await page.evaluate('scrollTo(0, 0)')
  await page.waitForTimeout(500)
  return page.evaluate<number>(`new Promise((resolve) => {
    let frames = 0
    const end = performance.now() + 2000
    const draw = () => {
      scrollBy(0, 40)
      frames += 1
      performance.now() < end ? requestAnimationFrame(draw) : resolve(frames)
    }
    requestAnimationFrame(draw)
  })`)
}

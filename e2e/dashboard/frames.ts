import type { BrowserContext, Page } from 'playwright-core'
import { measurePace } from './pace.ts'

const turns = 5
/** There are more turns while too few frames are drawn: other work may have been in the way. */
const mostTurns = 15
export const enough = 55 / 60

/** The most frames of a scrolled list, of the most of a bare page: other work on the machine only ever draws fewer. */
export async function measureFrames(page: Page, context: BrowserContext): Promise<number> {
  const bare = await context.newPage()
  await bare.setContent('<div style="height: 3600000px; background: linear-gradient(red, blue)"></div>')
  const slownesses: number[] = []
  const list: number[] = []
  const most: number[] = []
  const share = () => (Math.min(...slownesses) * Math.max(...list)) / Math.max(...most)
  for (let turn = 0; turn < turns || (turn < mostTurns && share() < enough); turn += 1) {
    slownesses.push((await measurePace(page)).slowness)
    list.push(await countFrames(page))
    most.push(await countFrames(bare))
  }
  const figures = `frames of the list: ${list.join(', ')}; of a bare page: ${most.join(', ')}`
  console.info(`${figures}; slowness ${Math.min(...slownesses)}`)
  return share()
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

import type { Page } from 'playwright-core'

/** The budgets are those of a desktop computer slowed down four times, as a phone is. */
const slowDown = 4
/** How long the work below takes on a desktop computer. */
const desktopWorkMs = 60
const phoneWorkMs = slowDown * desktopWorkMs

/**
 * How far the page must be slowed down to be as fast as a phone, and how much slower than that it is already: then budgets
 * are as much larger, so that a slow machine fails no test.
 */
export async function measurePace(page: Page): Promise<{ throttling: number; slowness: number }> {
  const workMs = await page.evaluate<number>(`(() => {
    const started = performance.now()
    let sum = 0
    for (let index = 0; index < 3e7; index += 1) sum = (sum * 31 + index) % 1000003
    return performance.now() - started + (sum < 0 ? 1 : 0)
  })()`)
  return { throttling: Math.max(1, phoneWorkMs / workMs), slowness: Math.max(1, workMs / phoneWorkMs) }
}

import { createClient } from '@tributary/contract/client'
import { type Browser, chromium, type Page } from 'playwright-core'
import { buildDashboard } from '../demo/dashboard.ts'
import { buildMember } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { openBenchFolder } from './data/folder.ts'
import { readArguments, report } from './figures.ts'

/**
 * `npm run bench:dashboard -- <folder> [rounds]`: changes filters of the analytics page on the data of `bench:data`, and
 * measures how long the page takes to dim the old figures, to show the new ones on the screen, and those below it.
 */
const [folder, roundsText = '20'] = readArguments()
if (folder === undefined) throw new Error('Give the data folder: npm run bench:dashboard -- <folder> [rounds]')
const rounds = Number(roundsText)
const dayMs = 86_400_000
const daysAgo = (days: number) => new Date(made.until - days * dayMs).toISOString().slice(0, 10)
const countries = ['DE', 'US', 'FR', 'GB', 'AT', 'CH', 'NL', 'ES', 'IT', 'PL', 'SE', 'JP', 'BR', 'IN', 'CA', 'AU']
const browsers = ['Chrome', 'Firefox', 'Safari', 'Edge', 'Mobile Safari']
const allowed = { dimmedMs: 50, p50: 200, p95: 500 }

await using bench = await openBenchFolder(folder)
if (!bench.made) throw new Error(`${folder} has no data. Generate it: npm run bench:data -- ${folder}`)
const { made, platform, environment } = bench
await buildDashboard()
const server = await startServer({ ...environment, ROLES: 'api' })
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
})
try {
  const { page, slug } = await signIn(browser)
  const rows: (string | number)[][] = []
  // Addresses that differ in one filter, or in the period: none is asked twice, so that no answer comes from a cache.
  const changes: [name: string, search: (round: number) => string][] = [
    ['period, of whole days', (round) => `period=${daysAgo(60 + round)}..${daysAgo(round + 1)}`],
    ['period of a year', (round) => `period=${daysAgo(364 + round)}..${daysAgo(round + 1)}`],
    [
      'filter by country, 30 days',
      (round) => `period=30d&country=${countries[round % countries.length]}&os=-X${round}`,
    ],
    ['filter by browser, 7 days', (round) => `period=7d&browser=${browsers[round % browsers.length]}&os=-X${round}`],
    ['filter by link, a year', (round) => `period=1y&linkId=${made.links.hot.id}&os=-X${round}`],
    ['compared, 30 days', (round) => `period=${daysAgo(30 + round)}..${daysAgo(round + 1)}&compare=previous`],
  ]
  for (const [name, search] of changes) rows.push(await measure(page, slug, name, search))
  const columns = ['dimmed p50 ms', 'new figures on the screen p50 ms', 'p95 ms', 'below the screen p50 ms']
  report('dashboard', { title: `${made.clicks} clicks`, columns, rows })
} finally {
  await browser.close()
  await server.stop()
}

async function signIn(browser: Browser): Promise<{ page: Page; slug: string }> {
  const member = await buildMember(platform, { id: made.workspaceId }, 'owner')
  const call = createClient({ url: server.api, token: made.key })
  const { slug } = await call('getWorkspace', { params: { idOrSlug: made.workspaceId } })
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
  const cookies = member.cookie.split('; ').map((pair) => {
    const at = pair.indexOf('=')
    return { name: pair.slice(0, at), value: pair.slice(at + 1), url: server.api }
  })
  await context.addCookies(cookies)
  const page = await context.newPage()
  await page.goto(`${server.api}/app/${slug}/analytics`)
  await page.getByRole('table', { name: 'Links' }).waitFor()
  return { page, slug }
}

type Times = { dimmed: number; shown: number; complete: number }

async function measure(page: Page, slug: string, name: string, search: (round: number) => string) {
  const times: Times[] = []
  for (let round = 0; round < rounds + 2; round += 1) {
    const address = JSON.stringify(`/app/${slug}/analytics?${search(round)}`)
    // Half a line of a card that the screen cuts off can't be read.
    const took = await page.evaluate<Times>(`new Promise((resolve) => {
      const started = performance.now()
      let dimmed, shown
      const isOnScreen = (part) => part.getBoundingClientRect().top < innerHeight - 16
      const look = () => {
        const busy = [...document.querySelectorAll('main [aria-busy=true]')]
        const passed = performance.now() - started
        if (busy.some(isOnScreen)) dimmed ??= passed
        else if (dimmed !== undefined) shown ??= passed
        if (shown !== undefined && busy.length === 0) resolve({ dimmed, shown, complete: passed })
        else requestAnimationFrame(look)
      }
      history.pushState({}, '', ${address})
      dispatchEvent(new PopStateEvent('popstate'))
      look()
    })`)
    if (round >= 2) times.push(took)
  }
  const read = (name: keyof Times, share: number) =>
    at(
      times.map((time) => time[name]),
      share,
    )
  const [dimmed, p50, p95] = [read('dimmed', 0.5), read('shown', 0.5), read('shown', 0.95)]
  if (dimmed > allowed.dimmedMs || p50 > allowed.p50 || p95 > allowed.p95) process.exitCode = 1
  const row = [name, ...[dimmed, p50, p95, read('complete', 0.5)].map((time) => time.toFixed(0))]
  console.error(row.join(' | '))
  return row
}

function at(times: number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0
}

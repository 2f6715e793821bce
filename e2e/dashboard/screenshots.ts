// `npm run screenshots [-- <folder> [part of a picture's name]]`: starts the demo and takes a picture of every screen and
// state, in both themes, wide and small, into the folder. `-- --docs` takes the pictures of the guides anew.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Browser, chromium } from 'playwright-core'
import { buildDashboard } from '../../demo/dashboard.ts'
import { watchRequests } from './quiet.ts'
import type { Screen } from './screen.ts'
import { screens } from './screens.ts'

const isDocs = process.argv[2] === '--docs'
const [folder = 'screenshots', part = ''] = isDocs
  ? ['docs/public/screenshots', process.argv[3]]
  : process.argv.slice(2)
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const [wide, small] = [
  { width: 1440, height: 900 },
  { width: 360, height: 780 },
]
type View = { name: string; viewport: typeof wide; colorScheme: 'light' | 'dark' }
const views: View[] = isDocs
  ? [{ name: '', viewport: { width: 1200, height: 750 }, colorScheme: 'light' }]
  : [
      { name: '-wide-light', viewport: wide, colorScheme: 'light' },
      { name: '-wide-dark', viewport: wide, colorScheme: 'dark' },
      { name: '-small-light', viewport: small, colorScheme: 'light' },
      { name: '-small-dark', viewport: small, colorScheme: 'dark' },
    ]
type Demo = { api: string; app: string }

await buildDashboard()
await mkdir(folder, { recursive: true })
const demo = spawn(process.execPath, [join(import.meta.dirname, '../../demo/main.ts')], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
try {
  const [line] = (await once(createInterface({ input: demo.stdout }), 'line')) as [string]
  await takeAll(browser, JSON.parse(line) as Demo)
} finally {
  await browser.close()
  demo.kill('SIGTERM')
  await once(demo, 'exit')
}

async function takeAll(browser: Browser, { api, app }: Demo): Promise<void> {
  const signedIn = await browser.newContext()
  const page = await signedIn.newPage()
  await page.goto(app)
  await page.getByRole('button').first().click()
  await page.waitForURL(/\/app\/demo-business/)
  const storageState = await signedIn.storageState()
  let count = 0
  for (const { name, viewport, colorScheme } of views) {
    const context = await browser.newContext({ storageState, viewport, colorScheme, reducedMotion: 'reduce' })
    context.setDefaultTimeout(120_000)
    for (const screen of screens.filter(({ isInDocs }) => !isDocs || isInDocs)) {
      const picture = `${screen.name}${name}`
      if (!picture.includes(part)) continue
      await takeOne(context, api, screen, picture)
      count += 1
    }
    await context.close()
  }
  console.log(`${count} pictures in ${folder}`)
}

type Context = Awaited<ReturnType<Browser['newContext']>>

async function takeOne(
  context: Context,
  api: string,
  { path, isOutside, workspace = 'demo-business', prepare }: Screen,
  name: string,
): Promise<void> {
  const page = await context.newPage()
  const untilQuiet = watchRequests(page)
  await page.goto(`${api}${isOutside ? '' : `/app/${workspace}`}${path}`, { waitUntil: 'commit' })
  await page.locator('h1, h2').filter({ visible: true }).first().waitFor()
  await untilQuiet()
  await prepare?.(page)
  await page.screenshot({ path: join(folder, `${name}.png`) })
  await context.setOffline(false)
  await page.close()
}

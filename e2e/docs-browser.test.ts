import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createClient } from '@tributary/contract/client'
import { listEvents } from '@tributary/contract/events'
import { type Browser, chromium, type Page as Tab } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { createToken } from '../server/src/features/tokens/service.ts'
import { readTracker, scriptTag } from '../server/src/features/tracker/service.ts'
import { buildLink } from '../server/test/build.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { type Block, readPage } from './docs/blocks.ts'
import { runProgram } from './docs/program.ts'
import { newReader, readJavascript } from './docs/reader.ts'
import { runShell } from './docs/shell.ts'

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
const platform = await openTestPlatform()
const { api, redirect } = inject('server')

let browser: Browser
let site: Server
/** HTML that the test site serves at every path. */
let html = ''

// Skipped without an installed browser, except in CI, which installs one.
describe.skipIf(!existsSync(executablePath) && !process.env.CI)('guides with code for web pages', () => {
  beforeAll(async () => {
    site = createServer((_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end(html))
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    const args = ['--no-sandbox', '--host-resolver-rules=MAP shop.example 127.0.0.1']
    browser = await chromium.launch({ executablePath, args })
  })
  afterAll(async () => {
    await browser?.close()
    site?.close()
  })

  test('every code block of guides/tracking works', async () => {
    const page = readPage('guides/tracking')
    const reader = await newReader(platform)
    const { workspace, clickId, fill } = reader
    await runShell(
      page.take('sh').map((block) => ({ ...block, text: fill(block.text) })),
      reader,
    )

    const [byServer, withKey] = page.take('html') as [Block, Block]
    const { script } = await readTracker()
    html = byServer.text.replace(/src="[^"]+" integrity="[^"]+"/, addressIn(scriptTag(api, script)))
    const tab = await openTab(`/?trib_id=${clickId}`)
    expect(await tab.context().cookies()).toMatchObject([{ name: 'trib_id', value: clickId, domain: 'shop.example' }])

    const token = await createToken(platform, { workspaceId: workspace.id, name: 'page', isPublishable: true })
    html = withKey.text
      .replace(/src="…" integrity="…"/, addressIn(scriptTag(api, script)))
      .replace('trib_pk_…', token.key)
    const keyed = await openTab(`/?trib_id=${clickId}`)
    for (const { text } of page.take('js')) {
      await keyed.evaluate(`(async () => { ${text.replace('go.example.com', workspace.domain)} })()`)
    }

    html = '<p>A page with a bundle</p>'
    const [fromServer, bundled] = page.take('ts') as [Block, Block]
    const bundle = fill(bundled.text).replace('@tributary/tracker', `${api}/tracker.mjs`)
    const plain = await openTab(`/?trib_id=${clickId}`)
    await plain.addScriptTag({ type: 'module', content: `${bundle}\ndocument.title = tracker.clickId()` })
    await eventually(async () => expect(await plain.title()).toBe(clickId))

    const before = `import { Dub } from 'dub'
      const sdk = new Dub({ token: '${workspace.key}', serverURL: '${api}' })
      const [clickId, user, invoice] = ['${clickId}', { id: 'sdk-user' }, { id: 'sdk-invoice' }]\n`
    await writeFile(join(reader.folder, 'sdk.mjs'), before + readJavascript(fromServer.text))
    await runProgram([process.execPath, 'sdk.mjs'], reader)

    const call = createClient({ url: api, token: workspace.key })
    await eventually(async () => {
      const sales = await call(listEvents, { query: { event: 'sales' } })
      expect(sales.map((sale) => (sale as { customer: { externalId: string } }).customer.externalId).sort()).toEqual([
        'customer-1',
        // The refund of the sale, and the sale with a discount code.
        'customer-1',
        'customer-1',
        'sdk-user',
        'u_1',
      ])
    }, 20_000)
    expect(page.left()).toEqual([])
  })

  test('every code block of guides/nextjs works', async () => {
    const page = readPage('guides/nextjs')
    const { workspace, ...reader } = await newReader(platform)
    await runShell(
      page.take('sh').map((block) => ({ ...block, text: reader.fill(block.text) })),
      reader,
    )
    for (const line of page.take('ini').flatMap(({ text }) => text.trim().split('\n'))) {
      expect(line).toMatch(/^(# \.env\.local|TRIBUTARY_(URL|KEY)=\S+)$/)
    }
    vi.stubEnv('TRIBUTARY_URL', api)
    vi.stubEnv('TRIBUTARY_KEY', workspace.key)
    onTestFinished(() => void vi.unstubAllEnvs())
    const app = await layOut({
      'app/layout.tsx': `/** @jsxRuntime classic */ /** @jsx h */ const h = globalThis.h\n${only(page.take('tsx'))}`,
      'lib/tributary.ts': only(page.take('ts', 'export async function track(')),
      'app/api/sign-up/route.ts': only(page.take('ts', 'cookies()')),
      'app/api/payments/route.ts': only(page.take('ts', 'invoice.amount')),
    })
    const url = `http://shop.example:${(site.address() as AddressInfo).port}/`
    await buildLink(platform, workspace, { key: 'next', url, trackConversion: true })

    Object.assign(globalThis, { h: markup })
    const { default: RootLayout } = await import(join(app, 'app/layout.tsx'))
    html = RootLayout({ children: '<p>Welcome</p>' })
    const tab = await browser.newPage()
    await tab.goto(`http://${workspace.domain}:${new URL(redirect).port}/next`)
    const [cookie] = await tab.context().cookies(url)
    expect(cookie).toMatchObject({ name: 'trib_id' })

    Object.assign(globalThis, { nextCookies: { trib_id: cookie?.value } })
    const signUp = await import(join(app, 'app/api/sign-up/route.ts'))
    const signedUp: Response = await signUp.POST(posted({ email: 'ada@example.com' }))
    expect(signedUp.status).toBe(201)
    const { id } = (await signedUp.json()) as { id: string }
    const payments = await import(join(app, 'app/api/payments/route.ts'))
    const invoice = { id: 'invoice-9', customer: id, amount: 4_900, currency: 'usd' }
    expect((await payments.POST(posted(invoice))).status).toBe(204)
    vi.stubEnv('TRIBUTARY_KEY', 'trib_wrong')
    expect((await payments.POST(posted(invoice))).status).toBe(503)

    const call = createClient({ url: api, token: workspace.key })
    await eventually(async () => {
      const [sale] = await call(listEvents, { query: { event: 'sales' } })
      expect(sale).toMatchObject({ link: { key: 'next' }, customer: { externalId: id }, sale: { amount: 4_900 } })
    }, 20_000)
    expect(page.left()).toEqual([])
  })
})

async function openTab(path: string): Promise<Tab> {
  const tab = await (await browser.newContext()).newPage()
  await tab.goto(`http://shop.example:${(site.address() as AddressInfo).port}${path}`)
  return tab
}

function addressIn(tag: string): string {
  return tag.match(/src="[^"]+" integrity="[^"]+"/)?.[0] ?? ''
}

function only(blocks: { text: string }[]): string {
  expect(blocks).toHaveLength(1)
  return blocks[0]?.text ?? ''
}

/** Writes the files of the guide, with a stub for their only import from Next.js. */
async function layOut(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'next-app-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const next = {
    'node_modules/next/package.json':
      '{ "name": "next", "type": "module", "exports": { "./headers": "./headers.js" } }',
    'node_modules/next/headers.js':
      'export const cookies = async () => ({ get: (name) => ({ name, value: globalThis.nextCookies[name] }) })\n',
  }
  for (const [name, text] of Object.entries({ ...files, ...next })) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

/** Renders JSX like React, as far as the guide needs it. */
function markup(tag: string, attributes: Record<string, unknown> | null, ...children: string[]): string {
  const written = Object.entries(attributes ?? {}).map(([name, value]) =>
    value === true ? name : `${name}="${value}"`,
  )
  return `<${[tag, ...written].join(' ')}>${children.join('')}</${tag}>`
}

function posted(body: object): Request {
  return new Request('http://app.example/', { method: 'POST', body: JSON.stringify(body) })
}

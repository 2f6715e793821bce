import { existsSync, globSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createClient } from '@tributary/contract/client'
import { listEvents } from '@tributary/contract/events'
import { roleScopes, scopes } from '@tributary/contract/permissions'
import { Webhook } from 'standardwebhooks'
import { expect, inject, test } from 'vitest'
import { freePort } from '../engines/port.ts'
import { readConfig } from '../server/src/platform/config.ts'
import { createDatabases } from '../server/test/own-database.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'
import { type Block, type Page, readPage } from './docs/blocks.ts'
import { runProgram, startProgram } from './docs/program.ts'
import { newReader, type Reader, readJavascript } from './docs/reader.ts'
import { runShell } from './docs/shell.ts'

const platform = await openTestPlatform()
const { api, redirect } = inject('server')
const root = join(import.meta.dirname, '..')
const docs = join(root, 'docs')

/** Guides whose code blocks need a browser, a demo, containers or a separate installation, and the test that runs them. */
const testedElsewhere: Record<string, string> = {
  'quick-start': 'e2e/docs-quick-start.test.ts',
  'guides/partner-program': 'e2e/docs-quick-start.test.ts',
  'guides/backup': 'e2e/backup.test.ts',
  'guides/tracking': 'e2e/docs-browser.test.ts',
  'guides/nextjs': 'e2e/docs-browser.test.ts',
  'guides/observability': 'deploy/observability.test.ts',
  'guides/self-hosting': 'deploy/self-hosting.test.ts',
}

/** Tests of code blocks that are not shell commands, by guide. */
const runners: Record<string, (page: Page, reader: Reader) => Promise<void>> = {
  'guides/compatibility': async (page, reader) => {
    for (const { text } of page.take('ts')) {
      const file = join(reader.folder, 'sdk.mjs')
      await writeFile(file, readJavascript(reader.fill(text)))
      await runProgram([process.execPath, file], reader)
    }
  },

  'guides/domains': async (page, reader) => {
    for (const { text } of page.take('caddyfile')) {
      const file = join(reader.folder, 'Caddyfile')
      await writeFile(file, text)
      if (hasProgram('caddy')) await runProgram(['caddy', 'adapt', '--config', file], reader)
    }
  },

  'guides/filters': async (page, { workspace }) => {
    const call = createClient({ url: api, token: workspace.key })
    for (const query of page.take('metadata').flatMap(({ text }) => text.trim().split('\n'))) {
      expect(await call(listEvents, { query: { event: 'leads', query } }), query).toEqual([])
    }
  },

  'guides/migrating': async (page, reader) => {
    const [{ text } = { text: '' }] = page.take('js', 'import.mjs')
    const file = join(reader.folder, 'import.mjs')
    const list = join(reader.folder, 'links.csv')
    await writeFile(file, text)
    const lines = Array.from({ length: 130 }, (_, index) => `from-${index},https://example.com/${index}?a=b,c`)
    const written = ['key,url', ...lines, '"quoted","https://example.com/q?a=b,c"', 'broken,nowhere']
    await writeFile(list, written.map((line) => `${line}\r\n`).join(''))
    const command = [process.execPath, file, list]
    expect(await runProgram(command, reader)).toMatch(/^broken .+\n132 links read, 1 refused\n$/)
    expect(await runProgram(command, reader)).toMatch(/quoted .+\nbroken .+\n132 links read, 132 refused\n$/)
    for (const [key, url] of [
      ['from-129', 'https://example.com/129?a=b,c'],
      ['quoted', 'https://example.com/q?a=b,c'],
    ]) {
      const { headers } = await visit(`${redirect}/${key}`, { host: reader.workspace.domain, 'user-agent': 'curl/8' })
      expect(headers.location).toBe(url)
    }
  },

  'guides/mobile': async (page, reader) => {
    const [{ text } = { text: '' }] = page.take('ts', 'readClickId')
    const file = join(reader.folder, 'app.mjs')
    await writeFile(file, readJavascript(text))
    const { readClickId } = await import(pathToFileURL(file).href)
    expect(await readClickId(`https://${reader.workspace.domain}/clicked`, api)).toMatch(/^[\w-]{40}$/)
    expect(await readClickId(`https://${reader.workspace.domain}/none`, api)).toBeNull()
  },

  'guides/operating': async (page, { fill }) => {
    for (const { text } of page.take('sql')) await platform.clickhouse.command({ query: fill(text) })
  },

  'guides/qr': async (page, { fill }) => {
    for (const { text } of page.take('html')) {
      const [, source = ''] = fill(text).match(/src="([^"]+)"/) ?? []
      expect((await fetch(source)).headers.get('content-type')).toBe('image/png')
    }
  },

  'guides/scaling': async (page, { env }) => {
    for (const { text } of page.take('ini')) {
      const given = Object.fromEntries(
        text
          .trim()
          .split('\n')
          .map((line) => line.split('=') as [string, string]),
      )
      expect(() => readConfig({ ...env, ...given })).not.toThrow()
    }
  },

  'guides/shop': async (page, reader) => {
    const [{ text } = { text: '' }] = page.take('js', 'shop.mjs')
    const port = await freePort()
    await writeFile(join(reader.folder, 'shop.mjs'), text)
    const shop = `http://127.0.0.1:${port}`
    const env = { ...reader.env, PORT: String(port) }
    await startProgram([process.execPath, 'shop.mjs'], shop, { ...reader, env })
    expect(await (await fetch(shop)).text()).toContain(`<script defer src="${api}/tracker.js">`)
    const headers = { Cookie: `theme=dark; trib_id=${reader.clickId}` }
    const answer = await fetch(`${shop}/order`, { method: 'POST', headers })
    expect(await answer.text()).toContain('Thank you')
    await expectSale(reader, { amount: 1250, key: 'clicked' })
  },

  'guides/sign-in': async (page) => {
    // server/src/commands/user.test.ts runs it, on a server without users.
    expect(page.take('text').map(({ text }) => text.trim())).toEqual(['tributary user setup-link'])
  },

  'guides/webhooks': async (page, reader) => {
    const secret = `whsec_${Buffer.from('a secret of some length').toString('base64')}`
    const receivers: [string, string, string[], string[]?][] = [
      ['js', 'receiver.mjs', [process.execPath, 'receiver.mjs']],
      ['python', 'receiver.py', ['python3', 'receiver.py']],
      ['go', 'receiver.go', ['./receiver'], ['go', 'build', '-o', 'receiver', 'receiver.go']],
    ]
    for (const [language, name, command, build] of receivers) {
      const [{ text } = { text: '' }] = page.take(language)
      // A machine without Python or Go skips the code block in that language.
      if (!hasProgram((build ?? command)[0] as string)) continue
      const port = await freePort()
      await writeFile(join(reader.folder, name), text.replace('8080', String(port)))
      const url = `http://127.0.0.1:${port}/webhooks`
      const env = { ...reader.env, WEBHOOK_SECRET: secret, GOCACHE: join(reader.folder, 'go') }
      if (build) await runProgram(build, { ...reader, env })
      await startProgram(command, url, { ...reader, env })
      expect(await call(url, secret), name).toBe(204)
      expect(await call(url, `whsec_${Buffer.from('another secret').toString('base64')}`), name).toBe(400)
    }
  },
}

const pages = globSync('{quick-start,concepts,guides/*}.md', { cwd: docs }).map((file) => file.replace(/\.md$/, ''))

test.each(pages.filter((page) => !(page in testedElsewhere)))('every code block of %s works', async (name) => {
  const page = readPage(name)
  const reader = await newReader(platform)
  const shell = page.take('sh').map((block) => ({ ...block, text: reader.fill(block.text) }))
  const checksAll = ({ text }: { text: string }) => text.startsWith('tributary verify')
  await runShell(
    shell.filter((block) => !checksAll(block)),
    reader,
  )
  await runOnOwnDatabases(shell.filter(checksAll), reader)
  for (const { text } of page.take('json')) expect(() => JSON.parse(text)).not.toThrow()
  await runners[name]?.(page, reader)
  expect(page.left()).toEqual([])
})

test.each(Object.entries(testedElsewhere))('the code blocks of %s are run by %s', (name, by) => {
  if (!pages.includes(name)) return
  const tests = globSync(by, { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'))
  expect(tests.some((text) => text.includes(name))).toBe(true)
})

/** Checks of the whole installation: other tests damage rows of the shared databases on purpose. */
async function runOnOwnDatabases(blocks: Block[], reader: Reader): Promise<void> {
  if (blocks.length === 0) return
  const env = { ...reader.env, ...(await createDatabases()) }
  await runShell([{ page: 'migrate', line: 0, language: 'sh', text: 'tributary migrate' }, ...blocks], {
    ...reader,
    env,
  })
}

async function expectSale({ workspace }: Reader, { amount, key }: { amount: number; key: string }): Promise<void> {
  const call = createClient({ url: api, token: workspace.key })
  await eventually(async () => {
    const [sale] = await call(listEvents, { query: { event: 'sales' } })
    expect(sale).toMatchObject({ event: 'sale', sale: { amount }, link: { key } })
  }, 20_000)
}

async function call(url: string, secret: string): Promise<number> {
  const body = JSON.stringify({ id: 'evt_1', event: 'link.created', data: {} })
  const now = new Date()
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': `v1,AAAA ${new Webhook(secret).sign('evt_1', now, body)}`,
  }
  return (await fetch(url, { method: 'POST', headers, body })).status
}

/** Whether to run a program: always in CI, so that a missing program fails there. */
function hasProgram(name: string): boolean {
  if (process.env.CI) return true
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, name))) || name.startsWith('/')
}

test('the guide to members lists the scopes of every role', () => {
  const rows = readFileSync(join(docs, 'guides/members.md'), 'utf8').match(/^\| `\w+` \|.*$/gm) ?? []
  const listed = rows.map((row) => row.split('|').slice(1, 3))
  const names = (text = '') => text.match(/[\w.]+/g) ?? []
  expect(Object.fromEntries(listed.map(([role, scopes]) => [names(role)[0], names(scopes)]))).toEqual(roleScopes)
})

test('the guide to API keys lists every scope once', () => {
  const rows = readFileSync(join(docs, 'guides/api-keys.md'), 'utf8').match(/^\| `\w+\.\w+`.*$/gm) ?? []
  const listed = rows.flatMap((row) => row.split('|')[1]?.match(/\w+\.\w+/g) ?? [])
  expect(listed.sort()).toEqual([...scopes].sort())
})

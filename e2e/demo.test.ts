import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@tributary/contract/client'
import { listCommissions } from '@tributary/contract/commissions'
import { listEvents } from '@tributary/contract/events'
import { createLink, listLinks } from '@tributary/contract/links'
import { plans } from '@tributary/contract/operation'
import { createWebhook } from '@tributary/contract/webhooks'
import { expect, test } from 'vitest'
import { browser } from '../server/test/build.ts'
import { eventually } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'
import { startReceiver } from '../server/test/webhooks.ts'

type DemoState = { api: string; redirect: string; domain: string; app: string; keys: Record<string, string> }

test('the demo prints one line of JSON, has its sample data, and cleans up', { timeout: 360_000 }, async () => {
  const temporary = await mkdtemp(join(tmpdir(), 'demo-test-'))
  // For root, PostgreSQL runs as another user, who must be able to enter the folder.
  await chmod(temporary, 0o755)
  const child = spawn('npm', ['run', '--silent', 'demo'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: temporary },
  })
  let printed = ''
  let progress = ''
  child.stdout.on('data', (chunk) => {
    printed += chunk
  })
  child.stderr.on('data', (chunk) => {
    progress += chunk
  })
  try {
    // The first run builds the dashboard and the documentation.
    await eventually(async () => expect(printed, progress).toMatch(/\n$/), 240_000)
    expect(printed.trimEnd().split('\n')).toHaveLength(1)
    const demo = JSON.parse(printed) as DemoState
    expect(Object.keys(demo)).toEqual(['api', 'redirect', 'domain', 'app', 'keys'])
    expect(Object.keys(demo.keys)).toEqual([...plans])
    expect(demo.domain).toMatch(/\.localhost$/)
    expect(await (await fetch(demo.app)).text()).toContain('/app/demo-business')
    expect((await fetch(`${demo.api}/app`)).status).toBe(200)
    expect(progress).toContain(demo.app)

    const call = createClient({ url: demo.api, token: demo.keys.business as string })
    const links = await call(listLinks)
    const [partnerLinks, others] = [links.filter((link) => link.partnerId), links.filter((link) => !link.partnerId)]
    expect(others).toHaveLength(20)
    expect(others.reduce((sum, link) => sum + link.clicks, 0)).toBe(2_000)
    expect(partnerLinks).toHaveLength(8)
    const commissions = await call(listCommissions)
    expect(new Set(commissions.map(({ status }) => status))).toEqual(new Set(['pending', 'processed', 'refunded']))
    const events = await call(listEvents, { query: { interval: '90d', limit: 1000 } })
    for (const varied of ['country', 'device', 'browser', 'os'] as const) {
      expect(new Set(events.map((event) => event[varied])).size, varied).toBeGreaterThan(2)
    }
    expect(new Set(events.map((event) => event.click.trigger))).toEqual(new Set(['link', 'qr']))
    expect(new Set(events.map((event) => event.click.referer)).size).toBeGreaterThan(4)

    const answer = await visit(`${demo.redirect}/${links[0]?.key}`, { host: demo.domain, 'user-agent': browser })
    expect(answer.status).toBe(302)

    await using receiver = await startReceiver()
    const url = receiver.url.replace('127.0.0.1', 'localhost')
    await call(createWebhook, { body: { name: 'mine', url, triggers: ['link.created'] } })
    await call(createLink, { body: { url: 'https://example.com/told' } })
    await eventually(async () => expect(receiver.heard).toHaveLength(1), 20_000)
  } finally {
    child.kill('SIGTERM')
  }
  // npm itself may exit before the demo does.
  await eventually(async () => {
    const left = (await readdir(temporary)).filter((name) => name.startsWith('tributary-'))
    expect(left).toEqual([])
  }, 10_000)
  await rm(temporary, { recursive: true })
})

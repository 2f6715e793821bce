import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@tributary/contract/client'
import { bulkCreateLinks, bulkUpdateLinks } from '@tributary/contract/links'
import { createWebhook, listDeliveries } from '@tributary/contract/webhooks'
import { Webhook } from 'standardwebhooks'
import { expect, inject, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { startEngines } from '../engines/start.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { browser, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { sized } from '../server/test/size.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'
import { allowLoopback, startReceiver } from '../server/test/webhooks.ts'

const { created, updated, clicked } = sized({
  short: { created: 400, updated: 200, clicked: 200 },
  full: { created: 1_000, updated: 600, clicked: 400 },
})
const all = created + updated + clicked

type Delivered = { id: string; event: string; data: { id?: string; click?: { id: string } } }

test(`kill -9 of worker and NATS during ${all} events: a receiver that fails at random accepts each id once`, async () => {
  const engines = await startEngines({ only: ['nats', 'clickhouse'] })
  const folder = await mkdtemp(join(tmpdir(), 'tributary-webhooks-'))
  const database = await createDatabase(inject('environment').POSTGRES_URL as string, `webhooks_${Date.now()}`)
  const environment = {
    ...inject('environment'),
    ...engines.urls,
    ...allowLoopback,
    POSTGRES_URL: database,
    SPOOL_DIRECTORY: folder,
  }
  const platform = await openTestPlatform(environment)
  await migrate(platform.config, platform.clickhouse, () => {})
  const front = await startServer({ ...environment, ROLES: 'api,redirect' })
  let worker = await startServer({ ...environment, ROLES: 'worker' })
  const receiver = await startMoodyReceiver()
  try {
    const workspace = await buildWorkspace(platform)
    const call = createClient({ url: front.api, token: workspace.key })
    const triggers = ['link.created', 'link.updated', 'link.clicked'] as const
    const body = { name: 'all', url: receiver.url, triggers: [...triggers] }
    const webhook = await call(createWebhook, { body })
    receiver.trust(webhook.secret)

    const killing = kill()
    const links: { id: string; key: string }[] = []
    for (let first = 0; first < created; first += 100) {
      const some = Array.from({ length: 100 }, (_, index) => ({
        url: `https://example.com/${first + index}`,
        domain: workspace.domain,
      }))
      for (const link of await call(bulkCreateLinks, { body: some })) {
        if ('id' in link) links.push(link)
      }
      if (first < updated) {
        const linkIds = links.slice(first, first + 100).map((link) => link.id)
        await call(bulkUpdateLinks, { body: { linkIds, data: { comments: 'changed' } } })
      }
      await openAll(front.redirect, workspace.domain, links.slice((-clicked * 100) / created))
    }
    await killing
    expect(links).toHaveLength(created)
    const listEvents = () => [...receiver.accepted.values()].map(({ event }) => event)
    await eventually(async () => {
      const query = { status: 'pending' as const }
      const waiting = await call(listDeliveries, { params: { id: webhook.id }, query })
      const counts = triggers.map((trigger) => listEvents().filter(({ event }) => event === trigger).length)
      expect({ counts, waiting }).toEqual({ counts: [created, updated, clicked], waiting: [] })
    }, 240_000)

    expect(receiver.problems).toEqual([])
    const subjects = listEvents().map(({ event, data }) => `${event} ${data.id ?? data.click?.id}`)
    expect(new Set(subjects).size, 'events sent under two ids').toBe(all)
    for (const mood of ['answered 500', 'hung', 'cut off', 'connection closed after receiving it'] as const) {
      expect(receiver.moods.get(mood), mood).toBeGreaterThan(0)
    }
    const repeated = [...receiver.accepted.values()].filter(({ times }) => times > 1).length
    console.info(`${receiver.calls()} calls, ${repeated} events repeated:`, Object.fromEntries(receiver.moods))
  } finally {
    await worker.stop()
    await front.stop()
    await receiver[Symbol.asyncDispose]()
    await engines.stop()
    await rm(folder, { recursive: true, force: true })
  }

  async function kill(): Promise<void> {
    for (const step of ['worker', 'nats', 'worker', 'worker'] as const) {
      const before = receiver.accepted.size
      // Kills in the middle: some events were delivered since the last kill, and others are in flight.
      await eventually(async () => expect(receiver.accepted.size).toBeGreaterThan(before + 50), 60_000)
      if (step === 'nats') {
        engines.processes.nats?.kill('SIGKILL')
        await sleep(1_000)
        await engines.processes.nats?.restart()
      } else {
        worker.kill('SIGKILL')
        worker = await startServer({ ...environment, ROLES: 'worker' })
      }
    }
  }
}, 400_000)

async function openAll(redirect: string, host: string, links: { key: string }[]): Promise<void> {
  // Only digits, because some words in a user agent mark a bot.
  const agent = () => `${browser} ${randomInt(2 ** 40)}`
  const visits = links.map(({ key }) => visit(`${redirect}/${key}`, { host, 'user-agent': agent() }))
  for (const { status } of await Promise.all(visits)) expect(status).toBe(302)
}

/** Starts a receiver that verifies each call, and fails the first call of some events. */
async function startMoodyReceiver() {
  const accepted = new Map<string, { event: Delivered; times: number }>()
  const moods = new Map<string, number>()
  const problems: string[] = []
  const seen = new Set<string>()
  let verifier: Webhook | undefined
  const receiver = await startReceiver((response, { headers, body }) => {
    const id = String(headers['webhook-id'])
    const mood = seen.has(id) ? 'fine' : moodFor(Math.random())
    seen.add(id)
    moods.set(mood, (moods.get(mood) ?? 0) + 1)
    try {
      const event = verifier?.verify(body, headers as Record<string, string>) as Delivered
      if (event.id !== id) throw new Error(`${id} contains ${event.id}`)
      if (mood === 'answered 500') return void response.writeHead(500).end()
      if (mood === 'hung') return
      if (mood === 'cut off') return void response.socket?.destroy()
      accepted.set(id, { event, times: (accepted.get(id)?.times ?? 0) + 1 })
      if (mood === 'connection closed after receiving it') response.socket?.destroy()
      else response.writeHead(204).end()
    } catch (error) {
      problems.push(String(error))
      response.writeHead(401).end()
    }
  })
  return {
    ...receiver,
    accepted,
    moods,
    problems,
    calls: () => receiver.heard.length,
    trust(secret: string) {
      verifier = new Webhook(secret)
    },
  }
}

function moodFor(random: number) {
  if (random < 0.1) return 'answered 500'
  if (random < 0.14) return 'cut off'
  if (random < 0.18) return 'connection closed after receiving it'
  return random < 0.19 ? 'hung' : 'fine'
}

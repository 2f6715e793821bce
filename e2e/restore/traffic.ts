import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@tributary/contract/client'
import { createLink } from '@tributary/contract/links'
import { trackLead, trackSale } from '@tributary/contract/track'
import { browser } from '../../server/test/build.ts'
import { visit } from '../../server/test/visit.ts'

export type MadeLink = { id: string; key: string; at: number }
export type Traffic = {
  /** Number of answered visits, by link key. */
  visits: Map<string, number>
  links: MadeLink[]
  leads: { name: string; at: number }[]
  sales: { invoiceId: string; at: number }[]
  /** Number of requests that failed while a database was down. */
  refused: number
  /** Stops visits only, and waits for their responses. */
  pauseVisits(): Promise<void>
  resumeVisits(): void
  stop(): Promise<void>
}
type Target = { api: string; redirect: string; key: string; domain: string; keys: string[] }

let visitors = 0

/** Sends visits, new links, leads and sales, each at its own rate, until stopped. */
export function startTraffic({ api, redirect, key, domain, keys }: Target): Traffic {
  const stopping = new AbortController()
  const call = createClient({ url: api, token: key })
  const clicks: string[] = []
  let areVisitsPaused = false
  let visiting = 0
  const traffic: Omit<Traffic, 'pauseVisits' | 'resumeVisits' | 'stop'> = {
    visits: new Map(),
    links: [],
    leads: [],
    sales: [],
    refused: 0,
  }

  async function open(): Promise<void> {
    if (areVisitsPaused) return
    visiting += 1
    try {
      const visitor = visitors++
      const linkKey = keys[visitor % keys.length] as string
      const headers = { host: domain, 'user-agent': `${browser} ${visitor}`, accept: 'text/html' }
      const answer = await visit(`${redirect}/${linkKey}`, headers)
      if (answer.status !== 302) throw new Error(`status ${answer.status}`)
      traffic.visits.set(linkKey, (traffic.visits.get(linkKey) ?? 0) + 1)
      const clickId = /[?&]trib_id=([\w-]+)/.exec(answer.headers.location ?? '')?.[1]
      if (clickId) clicks.push(clickId)
    } finally {
      visiting -= 1
    }
  }

  async function make(): Promise<void> {
    const link = await call(createLink, { body: { url: 'https://example.com/new', domain } })
    traffic.links.push({ id: link.id, key: link.key, at: Date.now() })
  }

  async function convert(): Promise<void> {
    const clickId = clicks.at(-20)
    if (!clickId) return
    const name = `customer-${crypto.randomUUID()}`
    await call(trackLead, { body: { clickId, eventName: 'Sign up', customerExternalId: name } })
    traffic.leads.push({ name, at: Date.now() })
    const invoiceId = `invoice-${name}`
    await call(trackSale, { body: { customerExternalId: name, amount: 100, invoiceId } })
    traffic.sales.push({ invoiceId, at: Date.now() })
  }

  async function repeat(work: () => Promise<void>, everyMs: number): Promise<void> {
    while (!stopping.signal.aborted) {
      await work().catch(() => {
        traffic.refused += 1
      })
      await sleep(everyMs)
    }
  }

  const running = [repeat(open, 10), repeat(open, 10), repeat(open, 10), repeat(make, 250), repeat(convert, 250)]
  return Object.assign(traffic, {
    async pauseVisits() {
      areVisitsPaused = true
      while (visiting > 0) await sleep(10)
    },
    resumeVisits() {
      areVisitsPaused = false
    },
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  })
}

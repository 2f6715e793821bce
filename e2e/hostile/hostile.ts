import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Platform } from '../../server/src/platform/context.ts'
import { buildConversionLink } from '../../server/test/build.ts'
import { visit } from '../../server/test/visit.ts'
import { worstBodies } from './bodies.ts'

export type Size = {
  leads: number
  links: number
  webhooks: number
  pages: number
  /** Every how many of the worst bodies is sent; operations have nine each. */
  bodyStep: number
}
type Server = { api: string; redirect: string }
type Sent = { method: string; path: string; body?: string }

const atATime = 32
const deepestMetadata = 28

/** The hostile client: the largest valid leads, links and webhooks, the largest pages, and the worst bodies. */
export async function openHostile(platform: Platform, server: Server, receiver: string, size: Size) {
  const { workspace, click } = await buildConversionLink(platform)
  const statuses = new Map<number, number>()
  const failures: string[] = []
  const keys: string[] = []
  const fat = (length: number) => `https://example.com/${randomUUID()}/${'x'.repeat(length)}`

  function count(status: number, what: string): void {
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status >= 500) failures.push(`${status} ${what}`)
  }

  async function call({ method, path, body }: Sent): Promise<{ status: number; waitMs: number }> {
    const headers = { authorization: `Bearer ${workspace.key}` }
    const response = await fetch(server.api + path, { method, headers, body })
    await response.body?.pipeTo(new WritableStream())
    const waitMs = 1_000 * Number(response.headers.get('retry-after') ?? 0)
    return { status: response.status, waitMs }
  }

  /** Sends many calls concurrently; repeats those that got 429. */
  async function send(number: number, make: (index: number) => Sent) {
    let next = 0
    const sendSome = async () => {
      while (next < number) {
        const sent = make(next++)
        for (let attempt = 0; attempt < 50; attempt++) {
          const { status, waitMs } = await call(sent)
          count(status, `${sent.method} ${sent.path} ${sent.body?.slice(0, 100) ?? ''}`)
          if (status !== 429) break
          await new Promise((resolve) => setTimeout(resolve, Math.max(100, waitMs)))
        }
      }
    }
    await Promise.all(Array.from({ length: atATime }, sendSome))
  }

  const steps = {
    links: () =>
      send(size.links, (index) => {
        const key = `fat-${index}`
        keys.push(key)
        const geo = { DE: fat(19_000), FR: fat(19_000), US: fat(19_000) }
        return { method: 'POST', path: '/links', body: JSON.stringify({ url: fat(1_000), key, geo }) }
      }),
    webhooks: () =>
      send(size.webhooks, (index) => {
        const triggers = ['link.created', 'link.updated', 'link.clicked', 'lead.created']
        const url = `${receiver}${index}/${'x'.repeat(1_900)}`
        return { method: 'POST', path: '/webhooks', body: JSON.stringify({ name: `fat ${index}`, url, triggers }) }
      }),
    async visits() {
      for (const key of keys) {
        const headers = { host: workspace.domain, 'user-agent': `Mozilla/5.0 (X11; Linux) Firefox/${key}` }
        const { status } = await visit(`${server.redirect}/${key}`, headers)
        count(status, `visit of ${key}`)
      }
    },
    leads: () =>
      send(size.leads, (index) => {
        const lead = {
          clickId: click().id,
          eventName: 'fat',
          customerExternalId: `c${index}`,
          eventQuantity: 100,
          metadata: nest({ text: randomUUID().repeat(270) }, deepestMetadata),
        }
        return { method: 'POST', path: '/track/lead', body: JSON.stringify(lead) }
      }),
    pages: () =>
      send(size.pages, (index) => {
        const pages = [
          '/events?limit=450',
          '/events?limit=100',
          '/events?event=leads&limit=1000',
          '/links?pageSize=100',
        ]
        return { method: 'GET', path: pages[index % pages.length] as string }
      }),
    async bodies() {
      const bodies = worstBodies().filter((_, index) => index % size.bodyStep === 0)
      await send(bodies.length, (index) => bodies[index] as Sent)
    },
  }
  return { steps, statuses, failures }
}

function nest(value: object, levels: number): object {
  return levels === 0 ? value : { a: nest(value, levels - 1) }
}

/** Starts a webhook receiver that responds late, so that deliveries pile up. */
export async function startSlowReceiver() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => setTimeout(() => response.writeHead(204).end(), 2_000))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

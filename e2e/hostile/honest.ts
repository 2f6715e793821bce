import { randomUUID } from 'node:crypto'
import { visit } from '../../server/test/visit.ts'
import type { Call, HonestReport, HonestTask } from './measure.ts'

/** Interval between calls of the same type, each sent after the previous response. */
const everyMs = 200

/*
 * The honest client. It runs in a separate process, so that the hostile client does not affect its latencies. It
 * replies to each message with a report, and exits when the message says so.
 */
const task = JSON.parse(process.env.HONEST_TASK ?? '') as HonestTask
const headers = { authorization: `Bearer ${task.key}` }
let calls: Call[] = []
let visits = 0
let leads = 0
let clickId = ''
let isStopping = false

async function ask(method: string, path: string, body?: object): Promise<number> {
  const response = await fetch(task.api + path, { method, headers, body: body && JSON.stringify(body) })
  await response.arrayBuffer()
  return response.status
}

const kinds = {
  create: () => ask('POST', '/links', { url: 'https://example.com/honest' }),
  read: () => ask('GET', `/links/info?linkId=${task.link.id}`),
  events: () => ask('GET', '/events?limit=10'),
  analytics: () => ask('GET', '/analytics?event=clicks'),
  async visit() {
    const visitor = { host: task.domain, 'user-agent': `Mozilla/5.0 (X11; Linux) Firefox/${++visits}.0` }
    const answer = await visit(`${task.redirect}/${task.link.key}`, visitor)
    clickId = new URL(answer.headers.location ?? '', task.redirect).searchParams.get('trib_id') ?? ''
    return answer.status
  },
  async lead() {
    if (clickId === '') return 200
    leads += 1
    return ask('POST', '/track/lead', { clickId, eventName: 'Sign up', customerExternalId: randomUUID() })
  },
}

async function repeat(name: string, call: () => Promise<number>): Promise<void> {
  while (!isStopping) {
    const started = performance.now()
    const status = await call().catch(() => 0)
    const ms = performance.now() - started
    calls.push({ name, at: performance.timeOrigin + started, ms, status })
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, everyMs - ms)))
  }
}

const loops = Object.entries(kinds).map(([name, call]) => repeat(name, call))
process.on('message', async (message) => {
  isStopping = message === 'stop'
  if (isStopping) await Promise.all(loops)
  const report: HonestReport = { calls, visits, leads }
  calls = []
  process.send?.(report, () => isStopping && process.exit())
})
process.on('disconnect', () => process.exit())

import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { loadavg } from 'node:os'
import { sql } from 'kysely'
import pg from 'pg'
import { type BuiltWorkspace, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { readArguments, report } from './figures.ts'
import { openBench } from './stack.ts'
import { failWhenMissed, middle } from './table.ts'

/**
 * `npm run bench:creation [-- seconds [rounds]]`: creates links over 16 connections, without a key and with one, beside
 * bare INSERTs of the same rows over 16 connections. API and worker are separate processes.
 */
const [seconds = 20, rounds = 3] = readArguments().map(Number)
const connections = 16

await using bench = await openBench({ ENTERPRISE_REQUESTS_PER_MINUTE: '100000000' })
const { platform, environment } = bench
const server = await startServer({ ...environment, ROLES: 'api' })
const worker = await startServer({ ...environment, ROLES: 'worker' })
type Result = { perSecond: number; p99: number; made: number; failures: number }
const results: Record<'bare' | 'random key' | 'own key', Result[]> = { bare: [], 'random key': [], 'own key': [] }

try {
  await overHttp(await buildWorkspace(platform), false, 3)
  for (let round = 1; round <= rounds; round++) {
    results.bare.push(await bare(await buildWorkspace(platform)))
    for (const [name, hasKey] of [
      ['random key', false],
      ['own key', true],
    ] as const) {
      const workspace = await buildWorkspace(platform)
      const result = await overHttp(workspace, hasKey, seconds)
      results[name].push(result)
      await expectExact(workspace, result.made)
    }
    const rates = Object.entries(results).map(([name, all]) => `${name} ${Math.round(all.at(-1)?.perSecond ?? 0)}/s`)
    console.error(`round ${round} of ${rounds}: ${rates.join(', ')}`)
  }
} finally {
  await Promise.all([server.stop(), worker.stop()])
}

const at = (all: Result[], figure: 'perSecond' | 'p99') => middle(all.map((result) => result[figure]))
const base = at(results.bare, 'perSecond')
const rows = Object.entries(results).map(([name, all]) => {
  const perSecond = at(all, 'perSecond')
  return [name, Math.round(perSecond), at(all, 'p99').toFixed(1), (perSecond / base).toFixed(2)]
})
report('creation', { title: `links, ${connections} connections`, columns: ['links/s', 'p99 ms', '× bare'], rows })
console.log(`\nload average ${loadavg().map((load) => load.toFixed(1))}`)
const failures = Object.values(results).flatMap((all) => all.map((result) => result.failures))
failWhenMissed([{ name: 'failures', figure: failures.reduce((sum, each) => sum + each, 0), atMost: 0 }])

async function run(work: (send: number) => Promise<boolean>, duration: number): Promise<Result> {
  const times: number[] = []
  let failures = 0
  const started = performance.now()
  const until = started + duration * 1_000
  await Promise.all(
    Array.from({ length: connections }, async (_, connection) => {
      while (performance.now() < until) {
        const sent = performance.now()
        if (await work(connection)) times.push(performance.now() - sent)
        else failures += 1
      }
    }),
  )
  const elapsed = (performance.now() - started) / 1_000
  times.sort((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)] ?? 0
  return { perSecond: times.length / elapsed, p99, made: times.length, failures }
}

async function bare({ id, domain }: BuiltWorkspace): Promise<Result> {
  const clients = Array.from({ length: connections }, () => new pg.Client(environment.POSTGRES_URL))
  await Promise.all(clients.map((client) => client.connect()))
  const text = 'INSERT INTO links (id, workspace_id, domain, key, lookup_key, url) VALUES ($1, $2, $3, $4, $4, $5)'
  const result = await run(async (connection) => {
    const key = randomUUID().slice(0, 13)
    const values = [`link_${randomUUID()}`, id, domain, key, `https://example.com/page-${key}`]
    await clients[connection]?.query({ name: 'bare', text, values })
    return true
  }, seconds)
  await Promise.all(clients.map((client) => client.end()))
  return result
}

/** Sends POST /links over plain sockets, because an HTTP client would take as much of the machine as the server. */
async function overHttp(workspace: BuiltWorkspace, hasKey: boolean, duration: number): Promise<Result> {
  const { hostname, port, host } = new URL(server.api)
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(hostname, Number(port))))
  const head = `POST /links HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${workspace.key}\r\nContent-Type: application/json\r\n`
  const result = await run(async (connection) => {
    const page = randomUUID().slice(0, 13)
    const body = JSON.stringify({ url: `https://example.com/page-${page}`, ...(hasKey && { key: page }) })
    const status = await sockets[connection]?.send(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
    return status === '200'
  }, duration)
  for (const { close } of sockets) close()
  return result
}

async function openSocket(hostname: string, port: number) {
  const socket = connect(port, hostname).setNoDelay(true)
  let received = ''
  let answer: (status: string) => void = () => {}
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk
    const end = received.indexOf('\r\n\r\n')
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1])
    if (end < 0 || received.length < end + 4 + length) return
    const status = received.slice(9, 12)
    received = ''
    answer(status)
  })
  await new Promise<void>((resolve, reject) => void socket.once('connect', resolve).once('error', reject))
  const send = (text: string) =>
    new Promise<string>((resolve) => {
      answer = resolve
      socket.write(text)
    })
  return { send, close: () => socket.destroy() }
}

/** Throws unless every created link has one row, one counter, one message and is counted. */
async function expectExact({ id }: BuiltWorkspace, made: number): Promise<void> {
  const found = await sql<Record<string, bigint>>`SELECT
    (SELECT count(*) FROM links WHERE workspace_id = ${id}) AS links,
    (SELECT count(*) FROM link_counters WHERE workspace_id = ${id}) AS counters,
    (SELECT count(*) FROM (SELECT id FROM outbox WHERE workspace_id = ${id} AND subject LIKE 'changes.%.links'
      UNION SELECT id FROM outbox_published WHERE workspace_id = ${id} AND subject LIKE 'changes.%.links') m) AS messages,
    (SELECT sum(count)::bigint FROM (SELECT count FROM link_totals WHERE workspace_id = ${id} AND tag_id = '*'
      UNION ALL SELECT change FROM link_total_changes WHERE workspace_id = ${id} AND tag_id = '*') t) AS total`.execute(
    platform.db,
  )
  for (const [name, count] of Object.entries(found.rows[0] ?? {})) {
    if (Number(count) !== made) throw new Error(`${made} links were created, but there are ${count} ${name}`)
  }
}

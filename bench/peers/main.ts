import { sql } from 'kysely'
import { buildLink, buildWorkspace } from '../../server/test/build.ts'
import { startServer } from '../../server/test/server-process.ts'
import { readArguments, report } from '../figures.ts'
import { type Load, runLoad } from '../run-load.ts'
import { runPosts } from '../run-posts.ts'
import { openBench } from '../stack.ts'
import { failWhenMissed, middle } from '../table.ts'
import { type Peer, startKutt } from './kutt.ts'

/**
 * `npm run bench:peers -- <folder of Kutt> [rounds] [seconds]`: creation of links over 16 connections and redirects over
 * 64, Kutt and Tributary in turns on the same engines and machine. The folder has Kutt's source and, after `npm install`,
 * its packages. Worker and redirect run in processes of their own.
 */
const [folder, roundsText = '3', secondsText = '8'] = readArguments()
if (folder === undefined) throw new Error('Give the folder of Kutt: npm run bench:peers -- <folder> [rounds] [seconds]')
const [rounds, seconds] = [Number(roundsText), Number(secondsText)]
const [creating, redirecting] = [16, 64]
const bodiesAtMost = 40_000
let next = 0
// A visitor who comes again within the hour would be a repeat, which Tributary does not log.
let visitors = 0

await using bench = await openBench({ ENTERPRISE_REQUESTS_PER_MINUTE: '100000000' })
const { environment, platform, engines } = bench
const kutt = await startKutt(folder, engines.urls as { POSTGRES_URL: string; VALKEY_URL: string })
const workspace = await buildWorkspace(platform)
const link = await buildLink(platform, workspace, { url: 'https://example.com/landing' })
const [api, worker, redirect] = await Promise.all(
  ['api', 'worker', 'redirect'].map((role) => startServer({ ...environment, ROLES: role, REDIRECT_PROCESSES: '' })),
)
const ours: Peer = {
  url: redirect?.redirect ?? '',
  host: workspace.domain,
  path: `/${link.key}`,
  create: {
    path: '/links',
    headers: { Authorization: `Bearer ${workspace.key}` },
    body: (number) => JSON.stringify({ url: `https://93.184.215.14/page-${number}` }),
  },
  async countLinks() {
    const result = await sql<{ count: bigint }>`SELECT count(*) AS count FROM links`.execute(platform.db)
    return Number(result.rows[0]?.count)
  },
  stop: async () => void (await Promise.all([api, worker, redirect].map((server) => server?.stop()))),
}
const systems = { Tributary: { peer: ours, createAt: api?.api ?? '' }, Kutt: { peer: kutt, createAt: kutt.url } }
const created: Record<string, Load[]> = { Tributary: [], Kutt: [] }
const redirected: Record<string, Load[]> = { Tributary: [], Kutt: [] }
try {
  for (let round = 0; round <= rounds; round++) {
    for (const [name, { peer, createAt }] of Object.entries(systems)) {
      const length = round === 0 ? 2 : seconds
      const before = await peer.countLinks()
      const posts = await create(peer, createAt, length)
      const made = (await peer.countLinks()) - before
      if (made !== posts.answered)
        throw new Error(`${name} answered ${posts.answered} creations, but made ${made} links`)
      visitors += 1_000_000
      const load = await runLoad({
        first: visitors,
        url: peer.url,
        host: peer.host,
        paths: [peer.path],
        connections: redirecting,
        seconds: length,
        distinct: true,
      })
      // The first round warms up.
      if (round === 0) continue
      created[name]?.push(posts)
      redirected[name]?.push(load)
      console.error(
        `round ${round} of ${rounds}: ${name} ${Math.round(posts.perSecond)} links/s, ${Math.round(load.perSecond)} redirects/s`,
      )
    }
  }
} finally {
  await Promise.all([kutt.stop(), ours.stop()])
}

const ratio = (loads: Record<string, Load[]>) =>
  middle(loads.Tributary?.map((load, round) => load.perSecond / (loads.Kutt?.[round]?.perSecond ?? 1)) ?? [])
const rows = (loads: Record<string, Load[]>) =>
  Object.entries(loads).map(([name, list]) => {
    const cell = (figure: 'perSecond' | 'p50' | 'p99') => middle(list.map((load) => load[figure]))
    const failures = list.reduce((sum, load) => sum + load.failures, 0)
    return [name, Math.round(cell('perSecond')), cell('p50').toFixed(1), cell('p99').toFixed(1), failures]
  })
const columns = ['a second', 'p50 ms', 'p99 ms', 'failures']
report(
  'peers',
  { title: `links created, ${creating} connections`, columns, rows: rows(created) },
  { title: `redirects, ${redirecting} connections, each another visitor`, columns, rows: rows(redirected) },
)
failWhenMissed([
  { name: 'links created × Kutt', figure: ratio(created), atLeast: 1.5 },
  { name: 'redirects × Kutt', figure: ratio(redirected), atLeast: 8 },
])

function create({ create }: Peer, url: string, length: number): Promise<Load> {
  const bodies = Array.from({ length: bodiesAtMost }, () => create.body(next++))
  return runPosts({
    url: `${url}${create.path}`,
    headers: create.headers,
    bodies,
    connections: creating,
    seconds: length,
  })
}

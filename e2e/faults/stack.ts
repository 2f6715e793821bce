import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newSecrets } from '../../demo/settings.ts'
import { ensureBinaries } from '../../engines/binaries.ts'
import type { EngineName, EngineProcess } from '../../engines/engine-process.ts'
import { type NatsCluster, startNatsCluster } from '../../engines/nats-cluster.ts'
import { startEngines } from '../../engines/start.ts'
import { readConfig } from '../../server/src/platform/config.ts'
import type { Platform } from '../../server/src/platform/context.ts'
import { openPlatform } from '../../server/src/platform/handles.ts'
import { hashPartition } from '../../server/src/platform/ids.ts'
import { openLog } from '../../server/src/platform/log.ts'
import { migrate } from '../../server/src/platform/migrate.ts'
import { ensureStreams } from '../../server/src/platform/nats.ts'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../server/test/build.ts'
import { openSmallDisk, type SmallDisk } from '../../server/test/disk/small-disk.ts'
import { type ServerProcess, startServer } from '../../server/test/server-process.ts'
import { type Balancer, openBalancer } from './balancer.ts'
import type { TargetLink } from './visits.ts'

export type FaultStack = AsyncDisposable & {
  /** Small disks by database, if requested. */
  disks: Partial<Record<EngineName, SmallDisk>>
  environment: Record<string, string>
  platform: Platform
  engines: Partial<Record<EngineName, EngineProcess>>
  cluster?: NatsCluster
  workspaces: BuiltWorkspace[]
  links: TargetLink[]
  /** One link per workspace that is visited last: when its click is counted, all earlier ones are. */
  lastLinks: TargetLink[]
  balancer: Balancer
  api: ServerProcess
  redirects: ServerProcess[]
  workers: ServerProcess[]
  /** Starts a redirect process with the spool of that number. */
  startRedirect(number: number, overrides?: Record<string, string>): Promise<ServerProcess>
  startWorker(): Promise<ServerProcess>
  /** Points the load balancer to the current redirect processes. */
  balance(): void
}

const partitions = 2
const leastWorkspaces = 4
/** Free space that ClickHouse reserves, as in `deploy/clickhouse/server.xml` but for a small disk. */
export const reservedMegabytes = 96
const clickHouseConfig = `<clickhouse><storage_configuration><disks><default>
  <keep_free_space_bytes>${reservedMegabytes * 2 ** 20}</keep_free_space_bytes>
</default></disks></storage_configuration></clickhouse>
`

/** Starts all roles in separate processes, with two redirect processes behind a load balancer and private databases. */
export async function openFaultStack(
  options: {
    cluster?: boolean
    linksPerWorkspace?: number
    settings?: Record<string, string>
    /** Disk size in megabytes, for databases on a small disk. */
    disks?: Partial<Record<EngineName, number>>
  } = {},
): Promise<FaultStack> {
  await ensureBinaries(console.error)
  await using parts = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'tributary-faults-'))
  parts.defer(() => rm(folder, { recursive: true, force: true }))
  // PostgreSQL runs as another user, who must be able to enter the folder.
  await chmod(folder, 0o711)
  const data = join(folder, 'engines')
  const disks: FaultStack['disks'] = {}
  for (const [name, megabytes] of Object.entries(options.disks ?? {}))
    disks[name as EngineName] = parts.use(await openSmallDisk(megabytes, join(data, name)))
  if (disks.clickhouse) await writeFile(join(disks.clickhouse.folder, 'config.xml'), clickHouseConfig)
  const [engines, cluster] = await Promise.all([
    startEngines({
      directory: options.disks && data,
      only: ['postgres', 'valkey', 'clickhouse', ...(options.cluster ? [] : (['nats'] as const))],
    }),
    options.cluster ? startNatsCluster() : undefined,
  ])
  parts.defer(() => engines.stop())
  if (cluster) parts.defer(() => cluster.stop())
  const environment: Record<string, string> = {
    ...engines.urls,
    ...(cluster && { NATS_URL: cluster.url, NATS_REPLICAS: '3' }),
    ...newSecrets(),
    SPOOL_DIRECTORY: folder,
    ENVIRONMENT: 'development',
    EVENT_PARTITIONS: String(partitions),
    LOG_LEVEL: 'info',
    ...options.settings,
  }
  const platform = parts.use(await openPlatform(readConfig(environment), openLog('silent')))
  await migrate(platform.config, platform.clickhouse, () => {})
  await makeStreams(platform)

  const started: ServerProcess[] = []
  const killAll = () => started.forEach((server) => void server.kill('SIGKILL'))
  process.on('exit', killAll)
  parts.defer(async () => {
    for (const server of started) server.kill('SIGCONT')
    await Promise.all(started.map((server) => server.stop()))
    process.off('exit', killAll)
  })
  const start = async (roles: string, overrides: Record<string, string> = {}) => {
    const server = await startServer({ ...environment, ROLES: roles, ...overrides })
    started.push(server)
    return server
  }
  const startRedirect = (number: number, overrides = {}) =>
    start('redirect', { SPOOL_DIRECTORY: join(folder, `spool-${number}`), ...overrides })
  const startWorker = () => start('worker')
  const [api, worker, ...redirects] = await Promise.all([
    start('api'),
    startWorker(),
    startRedirect(0),
    startRedirect(1),
  ])
  const balancer = parts.use(openBalancer())
  const addresses = await buildLinks(platform, options.linksPerWorkspace ?? 5)
  const opened = parts.move()
  const stack: FaultStack = {
    environment,
    platform,
    engines: engines.processes,
    disks,
    cluster,
    ...addresses,
    balancer,
    api,
    redirects,
    workers: [worker],
    startRedirect,
    startWorker,
    balance: () => balancer.use(stack.redirects.map(({ redirect }) => redirect)),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
  stack.balance()
  return stack
}

/** Creates the NATS streams before the processes start, which would all do so at once; a new cluster may need a retry. */
async function makeStreams({ nats, config }: Platform): Promise<void> {
  const until = Date.now() + 60_000
  for (;;) {
    try {
      return await ensureStreams(nats, config)
    } catch (error) {
      if (Date.now() > until) throw error
    }
  }
}

/** Creates workspaces until every partition has at least one. */
async function buildLinks(platform: Platform, linksPerWorkspace: number) {
  const workspaces: BuiltWorkspace[] = []
  const covered = new Set<number>()
  while (workspaces.length < leastWorkspaces || covered.size < partitions) {
    const workspace = await buildWorkspace(platform)
    workspaces.push(workspace)
    covered.add(hashPartition(workspace.id, partitions))
  }
  const build = async (workspace: BuiltWorkspace, key: string): Promise<TargetLink> => {
    const { id } = await buildLink(platform, workspace, { key })
    return { id, key, domain: workspace.domain }
  }
  const links: TargetLink[] = []
  for (let number = 0; number < linksPerWorkspace; number++) {
    for (const workspace of workspaces) links.push(await build(workspace, `link-${number}`))
  }
  const lastLinks: TargetLink[] = []
  for (const workspace of workspaces) lastLinks.push(await build(workspace, 'last'))
  return { workspaces, links, lastLinks }
}

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { newSecrets } from '../../demo/settings.ts'
import { requireNats } from '../../engines/nats.ts'
import { findOnPath, projectFolder } from '../../engines/programs.ts'
import { findValkey } from '../../engines/valkey.ts'
import type { Node, Region, Spawned } from './network.ts'

export type Kind = 'caddy' | 'redirect' | 'api' | 'worker' | 'nats' | 'postgres' | 'valkey' | 'clickhouse' | 'client'
export type Host = Node & { kind: Kind; number: number }
export type Command = Spawned & { command: string; args: string[] }

/** The large installation of docs/guides/scaling.md: region 1 has the engines, both have redirects near their visitors. */
export const hosts: Host[] = [
  ...buildHosts('caddy', 11, [1, 2]),
  ...buildHosts('redirect', 21, [1, 1, 2, 2]),
  ...buildHosts('api', 31, [1, 1]),
  ...buildHosts('worker', 41, [1, 1]),
  ...buildHosts('nats', 51, [1, 1, 1]),
  ...buildHosts('postgres', 61, [1, 1]),
  ...buildHosts('valkey', 71, [1, 2]),
  ...buildHosts('clickhouse', 81, [1]),
  ...buildHosts('client', 91, [1, 2]),
]

/** Where the rehearsal itself runs: it asks hosts for their state and counts. */
export const operator: Node = { name: 'operator', region: 1, address: '10.77.1.2' }
/** The address of PostgreSQL's primary, which moves on a failover. */
export const primaryAddress = '10.77.1.60'
export const apiHost = 'api.rehearsal.test'
export const ports = { http: 80, https: 443, api: 3000, redirect: 3001, ops: 3002 }

export function selectHosts(kind: Kind): Host[] {
  return hosts.filter((host) => host.kind === kind)
}

export type Installation = {
  /** Has the data of each host, as its disk does. */
  folder: string
  password: string
  settings: Record<string, string>
  nats: string
  valkey: string
  caddy: string
}

export async function openInstallation(folder: string): Promise<Installation> {
  const valkey = await findValkey()
  const [caddy] = await findOnPath('caddy')
  if (!valkey || !caddy) throw new Error('valkey or caddy is missing; run `npm run setup -- --deploy`')
  const password = `p${randomBytes(12).toString('hex')}`
  const natsUrls = selectHosts('nats').map(({ address }) => `nats://tributary:${password}@${address}:4222`)
  const settings = {
    ENVIRONMENT: 'production',
    HOST: '0.0.0.0',
    LOG_LEVEL: 'info',
    API_URL: `https://${apiHost}`,
    API_PORT: String(ports.api),
    REDIRECT_PORT: String(ports.redirect),
    OPS_PORT: String(ports.ops),
    REDIRECT_PROCESSES: '1',
    POSTGRES_URL: `postgres://postgres@${primaryAddress}:5432/postgres`,
    NATS_URL: natsUrls.join(','),
    NATS_REPLICAS: '3',
    EVENT_PARTITIONS: '2',
    SHUTDOWN_DRAIN_MS: '6000',
    CLICKHOUSE_URL: `http://${address('clickhouse', 1)}:8123`,
    TRUSTED_PROXIES: [operator, ...selectHosts('caddy')].map(({ address }) => address).join(','),
    ...newSecrets(),
    // Of the rehearsal, not of the installation: processes start faster.
    NODE_COMPILE_CACHE: join(folder, 'compile-cache'),
  }
  return { folder, password, settings, nats: await requireNats(), valkey, caddy }
}

/** Settings of a host with a role: each region has its own Valkey. */
export function settingsOn(installation: Installation, { name, kind, region }: Host): Record<string, string> {
  return {
    ...installation.settings,
    ROLES: kind,
    VALKEY_URL: `redis://:${installation.password}@${address('valkey', region)}:6379`,
    SPOOL_DIRECTORY: join(installation.folder, name, 'spool'),
  }
}

/** What runs on a host, except for PostgreSQL. */
export function buildCommand(installation: Installation, host: Host, program: string): Command {
  const { folder, password } = installation
  const data = join(folder, host.name)
  const at = (kind: Kind, port: number, region?: Region) =>
    selectHosts(kind)
      .filter((other) => region === undefined || other.region === region)
      .map(({ address }) => `${address}:${port}`)
      .join(' ')
  switch (host.kind) {
    case 'caddy':
      return {
        command: installation.caddy,
        args: ['run', '--config', join(projectFolder, 'deploy/caddy/Caddyfile')],
        env: {
          API_HOST: apiHost,
          API_UPSTREAM: at('api', ports.api),
          REDIRECT_UPSTREAM: at('redirect', ports.redirect, host.region),
          CADDY_SERVERS: 'several',
          CADDY_TLS: 'internal',
          TLS_ASK_URL: `http://${at('redirect', ports.ops, host.region).split(' ')[0]}/internal/tls-allowed`,
          XDG_DATA_HOME: data,
          XDG_CONFIG_HOME: data,
        },
      }
    case 'nats':
      return {
        command: installation.nats,
        args: ['--config', join(projectFolder, 'deploy/nats/cluster.conf')],
        env: {
          NATS_NAME: host.name,
          NATS_LISTEN: '0.0.0.0:4222',
          NATS_HEALTH_LISTEN: '0.0.0.0:8222',
          NATS_CLUSTER_LISTEN: '0.0.0.0:6222',
          NATS_STORE: join(data, 'jetstream'),
          NATS_PASSWORD: password,
          NATS_ROUTES: `[${selectHosts('nats').map(({ address }) => `nats://cluster:${password}@${address}:6222`)}]`,
        },
      }
    case 'valkey': {
      const config = join(projectFolder, 'deploy/valkey/valkey.conf')
      const args = [config, '--requirepass', password, '--bind', '0.0.0.0', '--port', '6379', '--dir', data]
      return { command: installation.valkey, args }
    }
    case 'clickhouse':
      return {
        command: process.execPath,
        args: [join(projectFolder, 'engines/clickhouse-server/main.ts')],
        env: { CH_HOST: '0.0.0.0', CH_PORT: '8123', CH_PATH: join(data, 'data'), UV_THREADPOOL_SIZE: '24' },
      }
    default:
      return { command: process.execPath, args: [program, 'serve'], env: settingsOn(installation, host) }
  }
}

/** Where a host says that it is up. */
export function healthUrl({ kind, address }: Host): string | undefined {
  if (kind === 'caddy') return `http://${address}:${ports.http}/`
  if (kind === 'nats') return `http://${address}:8222/healthz`
  if (kind === 'clickhouse') return `http://${address}:8123/ping`
  if (kind === 'redirect' || kind === 'api' || kind === 'worker') return `http://${address}:${ports.ops}/readyz`
}

function buildHosts(kind: Kind, from: number, regions: Region[]): Host[] {
  return regions.map((region, index) => ({
    kind,
    number: index + 1,
    name: `${kind}-${index + 1}`,
    region,
    address: `10.77.${region}.${from + index}`,
  }))
}

function address(kind: Kind, number: number): string {
  const host = selectHosts(kind).find((host) => host.number === number)
  if (!host) throw new Error(`There is no ${kind}-${number}`)
  return host.address
}

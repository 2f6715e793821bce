import { setTimeout as sleep } from 'node:timers/promises'
import { type Host, hosts, type Kind, selectHosts } from './hosts.ts'
import { currentProgram, type Stack } from './stack.ts'

/** Moments of a fault, in milliseconds since 1970. */
export type Moments = { began?: number; caused?: number; healed?: number }

export type Fault = {
  name: string
  happen(stack: Stack, moments: Moments): Promise<void>
  /** Whether first attempts of visits that were in flight at the killed host may fail. */
  breaksVisits?: boolean
  /** Whether attempts to write may fail; every write must succeed when it is repeated. */
  breaksWrites?: boolean
  /** Sends no repeat visits: they count again after Valkey lost its memory, as documented. */
  withoutRepeats?: boolean
  /** Starts all roles with the version before the newest migration. */
  needsOldVersion?: boolean
}

const downMs = 8_000
const withoutPower: Kind[] = ['caddy', 'redirect', 'api', 'worker', 'nats', 'postgres']
const cutMs = 60_000
/** How long the installation works without a standby after a failover. */
const withoutStandbyMs = 10_000
/** After which every Caddy knows that a server is up. */
const knownMs = 5_000

export const faults: Fault[] = [
  // Servers of 0.1 don't drain.
  { name: 'rolling upgrade', needsOldVersion: true, breaksWrites: true, happen: upgrade },
  { name: 'rolling restart', happen: restartAll },
  ...hosts
    .filter(({ kind }) => kind !== 'client')
    .map(
      (host): Fault => ({
        name: `${host.name} killed`,
        ...weaknesses(host),
        happen: (stack, moments) => kill(stack, host, moments),
      }),
    ),
  ...hosts
    .filter(({ kind, number }) => withoutPower.includes(kind) && (number === 1 || kind === 'worker'))
    .map(
      (host): Fault => ({
        name: `${host.name} without power`,
        ...weaknesses(host),
        happen: (stack, moments) => kill(stack, host, moments, { power: true }),
      }),
    ),
  { name: 'region 2 cut off for 60 s', breaksWrites: true, happen: cutOff },
  { name: 'PostgreSQL fails over', breaksWrites: true, happen: failOver },
]

/** Requests in flight at a dead Caddy or api fail; PostgreSQL's writes wait for the primary and its standby. */
function weaknesses({ kind }: Host): Partial<Fault> {
  return {
    breaksVisits: kind === 'caddy' || kind === 'redirect',
    breaksWrites: kind === 'caddy' || kind === 'api' || kind === 'postgres',
    withoutRepeats: kind === 'valkey',
  }
}

async function kill(stack: Stack, host: Host, moments: Moments, options?: { power: boolean }): Promise<void> {
  moments.began = Date.now()
  await stack.kill(host, options)
  moments.caused = Date.now()
  await sleep(downMs)
  await stack.start(host)
  moments.healed = Date.now()
}

async function cutOff({ network }: Stack, moments: Moments): Promise<void> {
  moments.began = Date.now()
  await network.cutRegions()
  moments.caused = Date.now()
  await sleep(cutMs)
  await network.joinRegions()
  moments.healed = Date.now()
}

/** Without a standby, the new primary accepts no writes: it would be the only one to have them. */
async function failOver(stack: Stack, moments: Moments): Promise<void> {
  moments.began = Date.now()
  await stack.kill(stack.primary())
  moments.caused = Date.now()
  await stack.failOver()
  await sleep(withoutStandbyMs)
  await stack.makeStandby()
  moments.healed = Date.now()
}

async function upgrade(stack: Stack, moments: Moments): Promise<void> {
  moments.began = Date.now()
  stack.use(currentProgram)
  await stack.tributary('upgrade-check')
  await stack.tributary('migrate')
  await restartAll(stack, moments)
}

/** As docs/guides/scaling.md says. */
async function restartAll(stack: Stack, moments: Moments): Promise<void> {
  moments.began ??= Date.now()
  for (const host of [...selectHosts('redirect'), ...selectHosts('api'), ...selectHosts('worker')]) {
    await stack.stop(host)
    await stack.start(host)
    if (host.kind !== 'worker') await sleep(knownMs)
  }
  moments.caused = moments.healed = Date.now()
}

import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process'
import { access, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findOnPath } from '../../engines/programs.ts'

const run = promisify(execFile)

export type Region = 1 | 2
export type Node = { name: string; region: Region; address: string }
export type Spawned = Pick<SpawnOptions, 'env' | 'cwd' | 'stdio' | 'serialization'> & { uid?: number; gid?: number }

/** The network of a rehearsal. Every host is a network namespace; the addresses exist only inside. */
export type Network = {
  spawn(host: string, command: string, args: string[], options?: Spawned): ChildProcess
  /** Ends all processes of a host at once, as `kill -9` does. */
  kill(host: string): Promise<void>
  /** Disconnects a host without a word to its peers, as a power cut does; connections to it hang. */
  unplug(host: string): Promise<void>
  plug(host: string): Promise<void>
  cutRegions(): Promise<void>
  joinRegions(): Promise<void>
  addAddress(host: string, address: string): Promise<void>
  removeAddress(host: string, address: string): Promise<void>
}

const delayMs = 20
const namesBegin = 'rehearsal-'
const trunks = ['trunk1', 'trunk2'] as const
const switches = 'switches'

/** Returns why this user can't create networks on this machine; undefined if possible. */
export async function whyNoNetwork(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'network namespaces need root; run it as root'
  for (const [program, name] of [['ip', 'iproute2'] as const, ['python3', 'python3'] as const]) {
    if ((await findOnPath(program)).length === 0) return `${name} is missing; run \`npm run setup -- --deploy\``
  }
  const probe = `${namesBegin}${process.pid}-probe`
  try {
    await run('ip', ['netns', 'add', probe])
    await run('ip', ['-n', probe, 'link', 'add', 'probe0', 'type', 'veth', 'peer', 'name', 'probe1'])
    await run('ip', ['-n', probe, 'link', 'add', 'probe2', 'type', 'bridge'])
  } catch (error) {
    return `this system permits no network namespaces: ${(error as { stderr?: string }).stderr?.trim() || error}`
  } finally {
    await run('ip', ['netns', 'del', probe]).catch(() => {})
  }
  const canDelay = await access('/dev/net/tun').then(() => true, hasNetem)
  return canDelay ? undefined : 'this kernel has neither /dev/net/tun nor netem, so regions can have no distance'
}

/** Builds the hosts, one switch for each region, and a line with delay between the two. Run once, outside the network. */
export async function buildNetwork(id: string, hosts: Node[]): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack()
  parts.defer(() => removeNetwork(id))
  const inSwitches = (...words: string[]) => run('ip', ['-n', namespace(id, switches), ...words])
  await run('ip', ['netns', 'add', namespace(id, switches)])
  for (const region of [1, 2]) {
    await inSwitches('link', 'add', `region${region}`, 'type', 'bridge')
    await inSwitches('link', 'set', `region${region}`, 'up')
  }
  for (const [number, { name, region, address }] of hosts.entries()) {
    const host = namespace(id, name)
    await run('ip', ['netns', 'add', host])
    await inSwitches('link', 'add', `port${number}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', host)
    await inSwitches('link', 'set', `port${number}`, 'master', `region${region}`, 'up')
    await run('ip', ['-n', host, 'link', 'set', 'lo', 'up'])
    await run('ip', ['-n', host, 'address', 'add', `${address}/16`, 'dev', 'eth0'])
    await run('ip', ['-n', host, 'link', 'set', 'eth0', 'up'])
  }
  if (await hasNetem()) {
    await inSwitches('link', 'add', trunks[0], 'type', 'veth', 'peer', 'name', trunks[1])
    for (const trunk of trunks)
      await run(
        'ip',
        netnsExec(id, switches, 'tc', ['qdisc', 'add', 'dev', trunk, 'root', 'netem', 'delay', `${delayMs}ms`]),
      )
  } else {
    const delay = join(import.meta.dirname, 'delay.py')
    spawn('ip', netnsExec(id, switches, 'python3', [delay, ...trunks, String(delayMs)]), { stdio: 'ignore' })
  }
  await repeatedly(() => connectRegions(id))
  const built = parts.move()
  return { [Symbol.asyncDispose]: () => built[Symbol.asyncDispose]() }
}

/** Opens a network that `buildNetwork` made, from one of its hosts or from outside. */
export function openNetwork(id: string): Network {
  return {
    spawn: (host, command, args, { uid, gid, ...options } = {}) =>
      spawn('ip', netnsExec(id, host, ...asUser(command, args, { uid, gid })), options),
    kill: (host) => killAll([namespace(id, host)]),
    unplug: (host) => ip(id, host, 'link', 'set', 'eth0', 'down'),
    plug: (host) => ip(id, host, 'link', 'set', 'eth0', 'up'),
    cutRegions: async () => {
      for (const trunk of trunks) await ip(id, switches, 'link', 'set', trunk, 'nomaster')
    },
    joinRegions: () => connectRegions(id),
    async addAddress(host, address) {
      await ip(id, host, 'address', 'add', `${address}/16`, 'dev', 'eth0')
      // As keepalived does: peers still have the former owner's hardware address.
      await run('ip', netnsExec(id, host, 'python3', [join(import.meta.dirname, 'announce.py'), 'eth0', address]))
    },
    removeAddress: (host, address) => ip(id, host, 'address', 'del', `${address}/16`, 'dev', 'eth0'),
  }
}

/** Removes networks whose process has ended without doing so. */
export async function removeAbandoned(): Promise<void> {
  for (const name of await readdir('/run/netns').catch(() => [])) {
    const id = new RegExp(`^${namesBegin}(\\d+)-${switches}$`).exec(name)?.[1]
    if (
      id &&
      !(await access(`/proc/${id}`).then(
        () => true,
        () => false,
      ))
    )
      await removeNetwork(id)
  }
}

async function removeNetwork(id: string): Promise<void> {
  const names = (await readdir('/run/netns').catch(() => [])).filter((name) => name.startsWith(namespace(id, '')))
  // PostgreSQL removes its shared memory when it may stop by itself.
  await signalAll(names, 'SIGINT')
  for (let waits = 0; waits < 20 && (await findPids(names)).length > 0; waits++) await sleep(100)
  await killAll(names)
  for (const name of names) await run('ip', ['netns', 'del', name])
}

async function killAll(names: string[]): Promise<void> {
  while ((await signalAll(names, 'SIGKILL')) > 0) await sleep(20)
}

/** Returns the number of processes. */
async function signalAll(names: string[], signal: NodeJS.Signals): Promise<number> {
  const pids = await findPids(names)
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {}
  }
  return pids.length
}

/** Finds the processes of namespaces, as `ip netns pids` does for one. */
async function findPids(names: string[]): Promise<number[]> {
  const namespaces = await Promise.all(names.map((name) => stat(join('/run/netns', name))))
  const inodes = new Set(namespaces.map(({ ino }) => ino))
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0)
  const found = await Promise.all(pids.map((pid) => stat(`/proc/${pid}/ns/net`).catch(() => undefined)))
  return pids.filter((_, index) => inodes.has(found[index]?.ino ?? 0))
}

async function connectRegions(id: string): Promise<void> {
  for (const [index, trunk] of trunks.entries())
    await ip(id, switches, 'link', 'set', trunk, 'master', `region${index + 1}`, 'up')
}

async function ip(id: string, host: string, ...words: string[]): Promise<void> {
  await run('ip', ['-n', namespace(id, host), ...words])
}

async function repeatedly(work: () => Promise<void>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === 100) throw error
      await sleep(100)
    }
  }
}

async function hasNetem(): Promise<boolean> {
  const probe = `${namesBegin}${process.pid}-netem`
  try {
    await run('ip', ['netns', 'add', probe])
    await run('ip', ['netns', 'exec', probe, 'tc', 'qdisc', 'add', 'dev', 'lo', 'root', 'netem', 'delay', '1ms'])
    return true
  } catch {
    return false
  } finally {
    await run('ip', ['netns', 'del', probe]).catch(() => {})
  }
}

const namespace = (id: string, host: string) => `${namesBegin}${id}-${host}`

export function netnsExec(id: string, host: string, command: string, args: string[]): string[] {
  return ['netns', 'exec', namespace(id, host), command, ...args]
}

/** Only root may enter a namespace, so another user comes after that. */
function asUser(command: string, args: string[], { uid, gid }: Spawned): [string, string[]] {
  if (uid === undefined) return [command, args]
  return ['setpriv', ['--reuid', String(uid), '--regid', String(gid), '--clear-groups', command, ...args]]
}

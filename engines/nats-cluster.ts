import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type EngineProcess, type EngineProgram, type Log, runEngine } from './engine-process.ts'
import { openFolder } from './folder.ts'
import { requireNats } from './nats.ts'
import { freePort } from './port.ts'

export type NatsCluster = {
  /** URLs of all nodes, separated by commas. */
  url: string
  /** Nodes by server name, as JetStream reports leaders and replicas. */
  nodes: Map<string, EngineProcess>
  stop(): Promise<void>
}

type Node = { name: string; port: number; routePort: number; healthPort: number }

const nodeNames = ['nats-1', 'nats-2', 'nats-3']

/** Starts a NATS cluster of three local nodes in a temporary folder, so that streams can have three replicas. */
export async function startNatsCluster(log: Log = () => {}): Promise<NatsCluster> {
  const command = await requireNats()
  const cluster: Node[] = []
  for (const name of nodeNames) {
    cluster.push({ name, port: await freePort(), routePort: await freePort(), healthPort: await freePort() })
  }
  const folder = await openFolder(undefined)
  const nodes = new Map<string, EngineProcess>()
  const stop = async () => {
    await Promise.all([...nodes.values()].map((node) => node.stop()))
    await folder.close()
  }
  const start = async (node: Node) => {
    const program = await prepareNode(node, cluster, { command, folder: join(folder.path, node.name) })
    nodes.set(node.name, await runEngine(program, log))
  }
  const outcomes = await Promise.allSettled(cluster.map(start))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed) {
    await stop()
    throw failed.reason
  }
  return { url: cluster.map(nodeUrl).join(','), nodes, stop }
}

async function prepareNode(
  node: Node,
  cluster: Node[],
  { command, folder }: { command: string; folder: string },
): Promise<EngineProgram> {
  await mkdir(folder, { recursive: true })
  const configFile = join(folder, 'nats.conf')
  await writeFile(configFile, formatConfig(node, cluster, join(folder, 'jetstream')))
  return {
    name: 'nats',
    url: nodeUrl(node),
    folder,
    command,
    args: ['--config', configFile],
    stopSignal: 'SIGTERM',
    // A healthy node has a leader and is in sync with it.
    async answers() {
      const response = await fetch(`http://127.0.0.1:${node.healthPort}/healthz`, { signal: AbortSignal.timeout(1000) })
      if (!response.ok) throw new Error(await response.text())
    },
  }
}

function formatConfig(node: Node, cluster: Node[], storeFolder: string): string {
  return `server_name: ${node.name}
listen: "127.0.0.1:${node.port}"
http: "127.0.0.1:${node.healthPort}"
jetstream {
  store_dir: ${JSON.stringify(storeFolder)}
  sync_interval: always
}
cluster {
  name: tributary
  listen: "127.0.0.1:${node.routePort}"
  routes: [${cluster.map(({ routePort }) => `"nats://127.0.0.1:${routePort}"`).join(', ')}]
}
`
}

function nodeUrl({ port }: Node): string {
  return `nats://127.0.0.1:${port}`
}

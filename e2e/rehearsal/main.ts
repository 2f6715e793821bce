import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { hosts, operator } from './hosts.ts'
import { buildNetwork, openNetwork, removeAbandoned, whyNoNetwork } from './network.ts'
import { type Options, runRehearsal, selectFaults } from './run.ts'

/*
 * `npm run test:rehearsal`: the large installation on one machine, each host a network namespace, under a steady load and
 * one fault after the other. `-- --list` prints the faults, `-- --only <words>` causes those whose name contains them.
 */
const { values } = parseArgs({
  options: {
    list: { type: 'boolean' },
    only: { type: 'string' },
    visits: { type: 'string', default: '100' },
    writes: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '5' },
    inside: { type: 'string' },
  },
})

if (values.list) for (const { name } of selectFaults(values.only)) console.log(name)
else if (values.inside) await inside(JSON.parse(values.inside))
else process.exitCode = await outside()

/** Builds the network and runs this program again on the operator's host, whose end also ends all other hosts. */
async function outside(): Promise<number> {
  const reason = await whyNoNetwork()
  if (reason !== undefined) {
    console.error(`The rehearsal can't run here: ${reason}.`)
    return 1
  }
  if (selectFaults(values.only).length === 0) {
    console.error(`No fault is named ${values.only}; see --list.`)
    return 1
  }
  await removeAbandoned()
  await using parts = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'tributary-rehearsal-'))
  parts.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  // PostgreSQL runs as another user, who must be able to enter the folder.
  await chmod(folder, 0o711)
  const id = String(process.pid)
  parts.use(await buildNetwork(id, [operator, ...hosts]))
  const options: Options = {
    id,
    folder,
    only: values.only,
    visits: Number(values.visits),
    writes: Number(values.writes),
    steadyMs: Number(values.seconds) * 1_000,
  }
  const args = [import.meta.filename, '--inside', JSON.stringify(options)]
  const child = openNetwork(id).spawn(operator.name, process.execPath, args, { stdio: 'inherit', env: process.env })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill('SIGTERM'))
  const [code] = await once(child, 'exit')
  return code ?? 1
}

async function inside(options: Options): Promise<void> {
  const hasPassed = await runRehearsal(options)
  process.exit(hasPassed ? 0 : 1)
}

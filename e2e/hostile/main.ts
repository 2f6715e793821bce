import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { newSecrets } from '../../demo/settings.ts'
import { ensureBinaries } from '../../engines/binaries.ts'
import { startEngines } from '../../engines/start.ts'
import { readConfig } from '../../server/src/platform/config.ts'
import { openPlatform } from '../../server/src/platform/handles.ts'
import { openLog } from '../../server/src/platform/log.ts'
import { migrate } from '../../server/src/platform/migrate.ts'
import { startDnsServer } from '../../server/test/dns-server.ts'
import { startServer } from '../../server/test/server-process.ts'
import { allowLoopback } from '../../server/test/webhooks.ts'
import { judge } from './standing/judge.ts'
import { formatTally } from './standing/tally.ts'
import { attack, standingSettings } from './standing.ts'

/*
 * `npm run test:hostile`: attacks an installation for `--minutes` with `--inputs` requests, generated from `--seed`.
 * `--only <number>` sends just that input and prints it with its response.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    inputs: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(randomInt(1_000_000)) },
    only: { type: 'string' },
  },
})
const only = values.only === undefined ? undefined : Number(values.only)
const seconds = only === undefined ? Number(values.minutes) * 60 : 5
const perSecond = Number(values.inputs) / seconds
const say = (line: string) => void process.stderr.write(`${line}\n`)

await using parts = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => void parts.disposeAsync().finally(() => process.exit(1)))
}
await ensureBinaries(console.error)
const folder = await mkdtemp(join(tmpdir(), 'tributary-hostile-'))
parts.defer(() => rm(folder, { recursive: true, force: true }))
const dns = parts.use(await startDnsServer())
const engines = await startEngines({ env: process.env, asInstalled: true })
parts.defer(() => engines.stop())
const environment: Record<string, string> = {
  ...engines.urls,
  ...newSecrets(),
  ...allowLoopback,
  ...standingSettings,
  DNS_SERVERS: dns.address,
  SPOOL_DIRECTORY: folder,
  ENVIRONMENT: 'development',
  ROLES: 'api,redirect,worker',
}
const platform = parts.use(await openPlatform(readConfig(environment), openLog('silent')))
await migrate(platform.config, platform.clickhouse, () => {})
const server = await startServer(environment)
parts.defer(async () => void (await server.stop()))

say(`seed ${values.seed}, ${Math.round(perSecond)} inputs a second for ${seconds} s, load ${loadavg()[0]?.toFixed(1)}`)
const result = await attack(platform, server, { seconds, perSecond, seed: Number(values.seed), only, say })
console.log(formatTally(result.tally))
const verify = async () => {
  const main = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
  const env = { PATH: process.env.PATH, ...environment }
  const run = promisify(execFile)(process.execPath, [main, 'verify', '--workspace', result.workspace.id], { env })
  return run.then(({ stdout }) => ({ isExact: true, text: stdout.trim() }), failedVerify)
}
const { problems, text } = await judge(result, server, verify, { apiMs: 250, redirectMs: 50 })
console.log(text)
if (problems.length > 0) {
  for (const { number, name, outcome, request } of result.tally.failures.slice(0, 20))
    say(
      `\n--seed ${values.seed} --only ${number} (${name}): ${outcome.status} ${outcome.text}\n${JSON.stringify(request)}`,
    )
  say(`\n${problems.join('\n')}`)
  process.exitCode = 1
}

function failedVerify(error: Error & { stdout?: string }) {
  return { isExact: false, text: error.stdout ?? error.message }
}

import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { startEngines } from '../engines/start.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { startServer } from '../server/test/server-process.ts'
import { openTestPlatform } from '../server/test/stack.ts'
import { allowLoopback } from '../server/test/webhooks.ts'
import { makeInput } from './hostile/standing/inputs.ts'
import { judge } from './hostile/standing/judge.ts'
import { formatTally } from './hostile/standing/tally.ts'
import { attack, standingSettings } from './hostile/standing.ts'

/** The short form of `npm run test:hostile`: a third of the rate that two cores can serve beside the databases and both clients. */
const [seconds, perSecond] = [30, 45]
const main = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))

test('hostile requests to every operation cause no 5xx and no restart, and slow no other workspace', async () => {
  await using parts = new AsyncDisposableStack()
  const engines = await startEngines({ only: ['nats', 'valkey', 'clickhouse'] })
  parts.defer(() => engines.stop())
  const database = await createDatabase(inject('environment').POSTGRES_URL as string, `standing_${Date.now()}`)
  const environment = {
    ...inject('environment'),
    ...engines.urls,
    ...allowLoopback,
    ...standingSettings,
    POSTGRES_URL: database,
  }
  const platform = await openTestPlatform(environment)
  await migrate(platform.config, platform.clickhouse, () => {})
  const server = await startServer({ ...environment, ROLES: 'api,redirect,worker' })
  parts.defer(async () => void (await server.stop()))

  const seed = randomInt(1_000_000)
  const result = await attack(platform, server, { seconds, perSecond, seed, say: console.info })
  const replays = [1, 2].map(() => Array.from({ length: 50 }, (_, number) => makeInput(seed, number, result.tenants)))
  expect(replays[0]).toEqual(replays[1])
  const env = { PATH: process.env.PATH, ...environment }
  const verify = async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [main, 'verify', '--workspace', result.workspace.id],
      {
        env,
      },
    )
    return { isExact: true, text: stdout.trim() }
  }
  // Two cores also run the databases and both clients here: these limits find a workspace that is blocked, and those of
  // `npm run test:hostile` one that is slowed.
  const { problems, text } = await judge(result, server, verify, { apiMs: 3_000, redirectMs: 1_500 })
  console.info(`${formatTally(result.tally)}\n${text}`)
  const failures = result.tally.failures.map(({ number, name, outcome, request }) => ({
    replay: `npm run test:hostile -- --seed ${seed} --only ${number}`,
    name,
    outcome,
    request,
  }))
  expect({ failures: failures.slice(0, 5), problems }).toEqual({ failures: [], problems: [] })
}, 600_000)

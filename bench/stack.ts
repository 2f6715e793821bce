import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newSecrets } from '../demo/settings.ts'
import { ensureBinaries } from '../engines/binaries.ts'
import { freePort } from '../engines/port.ts'
import { startEngines } from '../engines/start.ts'
import { readConfig } from '../server/src/platform/config.ts'
import type { Platform } from '../server/src/platform/context.ts'
import { openPlatform } from '../server/src/platform/handles.ts'
import { openLog } from '../server/src/platform/log.ts'
import { migrate } from '../server/src/platform/migrate.ts'

export type Bench = AsyncDisposable & {
  engines: Awaited<ReturnType<typeof startEngines>>
  platform: Platform
  /** Settings for separate server processes, which choose their own ports. */
  environment: Record<string, string>
}

/** Starts temporary databases with all tables for one measurement. */
export async function openBench(overrides: Record<string, string> = {}): Promise<Bench> {
  await using stack = new AsyncDisposableStack()
  await ensureBinaries(console.error, process.env)
  const engines = await startEngines({ env: process.env, asInstalled: true })
  stack.defer(() => engines.stop())
  const spool = await mkdtemp(join(tmpdir(), 'tributary-bench-'))
  stack.defer(() => rm(spool, { recursive: true, force: true }))
  const environment = {
    ...engines.urls,
    ENVIRONMENT: 'development',
    ...newSecrets(),
    // As the installers write it.
    CLICK_LOG_FORMAT: 'binary',
    // The load generator names the address of each visitor, as a proxy does.
    TRUSTED_PROXIES: '127.0.0.1',
    SPOOL_DIRECTORY: spool,
    ...overrides,
  }
  const [apiPort, redirectPort, opsPort] = await Promise.all([freePort(), freePort(), freePort()])
  const config = readConfig({
    ...environment,
    API_URL: `http://127.0.0.1:${apiPort}`,
    API_PORT: String(apiPort),
    REDIRECT_PORT: String(redirectPort),
    OPS_PORT: String(opsPort),
  })
  const platform = stack.use(await openPlatform(config, openLog('warn')))
  await migrate(config, platform.clickhouse, () => {})
  const opened = stack.move()
  return { engines, platform, environment, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
}

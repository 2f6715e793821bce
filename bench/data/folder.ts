import { existsSync, mkdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { newSecrets } from '../../demo/settings.ts'
import { ensureBinaries } from '../../engines/binaries.ts'
import { startEngines } from '../../engines/start.ts'
import { readConfig } from '../../server/src/platform/config.ts'
import type { Platform } from '../../server/src/platform/context.ts'
import { openPlatform } from '../../server/src/platform/handles.ts'
import { openLog } from '../../server/src/platform/log.ts'
import { migrate } from '../../server/src/platform/migrate.ts'

/** What `bench:data` generated: the large workspace, its API key, a link with many clicks, one with few, the last time. */
export type MadeClicks = {
  workspaceId: string
  key: string
  links: Record<'hot' | 'cold', { id: string; number: string }>
  until: number
  clicks: number
}
export type BenchFolder<Made> = AsyncDisposable & {
  engines: Awaited<ReturnType<typeof startEngines>>
  platform: Platform
  environment: Record<string, string>
  made: Made | undefined
  keep(made: Made): Promise<void>
}

/** Starts databases on a persistent folder, which the next run reuses. */
export async function openBenchFolder<Made = MadeClicks>(folder: string): Promise<BenchFolder<Made>> {
  await using stack = new AsyncDisposableStack()
  mkdirSync(folder, { recursive: true })
  type Stored = Made & { secrets: Record<string, string> }
  const file = join(folder, 'made.json')
  const made = existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as Stored) : undefined
  const secrets = made?.secrets ?? {
    ...newSecrets(),
  }
  await ensureBinaries(console.error, process.env)
  const engines = await startEngines({ directory: resolve(folder) })
  stack.defer(() => engines.stop())
  const environment = {
    ...engines.urls,
    ...secrets,
    ENVIRONMENT: 'development',
    SPOOL_DIRECTORY: join(resolve(folder), 'spool'),
    ENTERPRISE_ANALYTICS_PER_SECOND: '100000',
  }
  mkdirSync(environment.SPOOL_DIRECTORY, { recursive: true })
  const config = readConfig(environment)
  const platform = stack.use(await openPlatform(config, openLog('warn')))
  await migrate(config, platform.clickhouse, () => {})
  const opened = stack.move()
  return {
    engines,
    platform,
    environment,
    made,
    keep: (given) => writeFile(file, JSON.stringify({ secrets, ...given })),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

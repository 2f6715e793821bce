import { defineCommand } from 'citty'
import { type Config, ConfigError, configSummary, countVisitorProcesses, readConfig } from '../platform/config.ts'
import { type Log, openLog } from '../platform/log.ts'
import { refusedSettingsCode } from '../platform/supervisor.ts'
import { reportProblems } from './run.ts'
import { startSupervised } from './supervise.ts'

export const serve = defineCommand({
  meta: { name: 'serve', description: 'Run the roles in ROLES until a signal arrives' },
  args: { slot: { type: 'string', description: 'Set by serve for its child processes' } },
  async run({ args: { slot } }) {
    let isRefused = false
    await reportProblems(async () => {
      try {
        await (slot === undefined ? serveUntilStopped() : serveForSupervisor(Number(slot)))
      } catch (error) {
        isRefused = error instanceof ConfigError
        throw error
      }
    })
    if (isRefused && slot !== undefined) process.exitCode = refusedSettingsCode
  },
})

async function serveUntilStopped(): Promise<void> {
  const stopped = nextSignal()
  const config = readConfig()
  const log = openLog(config.LOG_LEVEL)
  log.info({ settings: configSummary() }, 'Starting')
  await using serving = isSupervised(config) ? await startSupervised(config, log) : await startAlone(config, log)
  void serving.ready.then(() => log.info('Ready')).catch(() => {})
  try {
    const signal = await Promise.race([stopped, serving.ready.then(() => stopped)])
    log.info({ signal }, 'Stopping')
    await serving.drain()
  } catch (error) {
    // The child process has logged the reason.
    log.error({ error: (error as Error).message }, 'child process refused to start, stopping')
    process.exitCode = 1
  }
}

function isSupervised(config: Config): boolean {
  return config.ROLES.length > 1 || (config.ROLES.includes('redirect') && countVisitorProcesses(config) > 1)
}

async function startAlone(config: Config, log: Log) {
  // Import the role here, because a supervisor process needs no database clients.
  const running = await (await import('./serve-role.ts')).startRole(config, log)
  return { ready: Promise.resolve(), drain: running.drain, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() }
}

async function serveForSupervisor(slot: number): Promise<void> {
  const stopped = nextSignal()
  const config = readConfig()
  const log = openLog(config.LOG_LEVEL).child({ role: config.ROLES[0], slot })
  await (await import('./serve-role.ts')).runSupervised(config, log, slot, stopped)
}

function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => resolve(signal))
  })
}

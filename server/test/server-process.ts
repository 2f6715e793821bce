import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../engines/port.ts'

export type Environment = Record<string, string | undefined>
export type ServerProcess = {
  api: string
  redirect: string
  ops: string
  pid: number
  /** Log lines of the server so far, for the message of a failed test. */
  log: string[]
  kill(signal: NodeJS.Signals): void
  /** Stops the server; resolves with its exit code. */
  stop(): Promise<number | null>
}

const startWithinMs = 150_000
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** Starts `tributary serve` on free ports and waits until it is ready. */
export async function startServer(
  environment: Environment,
  onLine?: (line: string) => void,
  program = main,
): Promise<ServerProcess> {
  const [apiPort, redirectPort, opsPort] = await Promise.all([freePort(), freePort(), freePort()])
  const api = `http://127.0.0.1:${apiPort}`
  const child = spawn(process.execPath, [program, 'serve'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      ENVIRONMENT: 'development',
      API_URL: api,
      API_PORT: String(apiPort),
      REDIRECT_PORT: String(redirectPort),
      OPS_PORT: String(opsPort),
      // One redirect process, the same on every machine.
      REDIRECT_PROCESSES: '1',
      ...environment,
    },
  })
  const log: string[] = []
  await ready(child, log, onLine)
  return {
    api,
    redirect: `http://127.0.0.1:${redirectPort}`,
    ops: `http://127.0.0.1:${opsPort}`,
    pid: child.pid as number,
    log,
    kill: (signal) => void child.kill(signal),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      const [code] = await exited
      return code as number | null
    },
  }
}

function ready(child: ChildProcess, log: string[], onLine?: (line: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!child.stderr) throw new Error('The server has no stderr')
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line)
      onLine?.(line)
      if (!line.includes('"msg":"Ready"')) return
      clearTimeout(timer)
      resolve()
    })
    child.once('exit', (code) => reject(new Error(`The server exited with ${code}:\n${log.slice(-20).join('\n')}`)))
    child.once('error', reject)
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`The server was not ready in ${startWithinMs} ms:\n${log.slice(-20).join('\n')}`))
    }, startWithinMs)
    child.once('exit', () => clearTimeout(timer))
  })
}

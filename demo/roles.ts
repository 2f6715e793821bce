import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export type Outcome = 'ready' | 'does not load' | 'does not start'
export type Roles = AsyncDisposable & {
  /** Starts all roles from the current files. The running roles serve until the new process has loaded. */
  replace(migrates: boolean): Promise<Outcome>
}

const program = join(import.meta.dirname, 'dev-roles.ts')
const stopWithinMs = 2_000

export function openRoles(environment: NodeJS.ProcessEnv, whenEnded: (reason: string) => void): Roles {
  const children = new Set<ChildProcess>()
  let isClosed = false
  let current: ChildProcess | undefined
  let standby = start()

  return {
    async replace(migrates) {
      const next = hasEnded(standby) ? start() : standby
      next.send({ migrates })
      const isLoaded = await sends(next, 'loaded')
      if (isLoaded) {
        const before = current
        current = next
        if (before) await end(before)
        if (next.connected) next.send('start')
      }
      const isReady = isLoaded && (await sends(next, 'ready'))
      if (!isClosed) standby = start()
      return isReady ? 'ready' : isLoaded ? 'does not start' : 'does not load'
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      await Promise.all([...children].map(end))
    },
  }

  function start(): ChildProcess {
    const child = fork(program, { env: environment, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    children.add(child)
    let wasReady = false
    child.on('message', (message) => {
      wasReady ||= message === 'ready'
    })
    child.once('exit', (code, signal) => {
      children.delete(child)
      if (child === current && wasReady && !isClosed) whenEnded(signal ?? `code ${code}`)
    })
    return child
  }
}

/** Resolves when the child process sends the expected message; false if it exits first. */
function sends(child: ChildProcess, expected: string): Promise<boolean> {
  return new Promise((resolve) => {
    if (hasEnded(child)) resolve(false)
    child.on('message', (message) => message === expected && resolve(true))
    child.once('exit', () => resolve(false))
  })
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), stopWithinMs)
  await ended
  clearTimeout(timer)
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

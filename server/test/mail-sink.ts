import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { SMTPServer } from 'smtp-server'

const program = fileURLToPath(import.meta.url)

/** Starts an SMTP server that discards what it receives, in a process of its own, so that it does not disturb measurements. */
export async function startMailSink(): Promise<{ url: string; stop(): Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  if (!child.stdout) throw new Error('The mail sink has no stdout')
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return {
    url: `smtp://127.0.0.1:${port}`,
    async stop() {
      const exited = once(child, 'exit')
      child.kill()
      await exited
    },
  }
}

if (process.argv[1] === program) {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      stream.resume()
      stream.on('end', () => done())
    },
  })
  server.listen(0, '127.0.0.1', () => console.log((server.server.address() as AddressInfo).port))
  // Ends with the process that started it.
  process.stdin.resume().on('end', () => process.exit())
}

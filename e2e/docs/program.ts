import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { eventually } from '../../server/test/stack.ts'

type Surroundings = { folder: string; env: Record<string, string | undefined> }

/** Runs a program from a guide until it exits; returns its output. */
export async function runProgram(command: string[], surroundings: Surroundings): Promise<string> {
  const { child, output } = start(command, surroundings)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command.join(' ')} exited with ${code}:\n${output()}`)
  return output()
}

/** Starts a server from a guide and waits until it responds; it stops after the test. */
export async function startProgram(command: string[], url: string, surroundings: Surroundings): Promise<void> {
  const { child, output } = start(command, surroundings)
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
  })
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${command.join(' ')} exited with ${child.exitCode}:\n${output()}`)
    await fetch(url)
  }, 30_000)
}

function start([program = '', ...parameters]: string[], { folder, env }: Surroundings) {
  const child: ChildProcess = spawn(program, parameters, { cwd: folder, env: { ...process.env, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  child.on('error', (error) => {
    output += error.message
  })
  return { child, output: () => output }
}

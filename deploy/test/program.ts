import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { projectFolder } from '../../engines/programs.ts'

export type Program = AsyncDisposable & { pid: number; output(): string; ended: Promise<unknown> }
export type Start = {
  command: string
  args: string[]
  env?: Record<string, string>
  /** Rejects until the program responds. */
  answers(): Promise<unknown>
}

const startWithinMs = 60_000

/** Runs a program until disposed; if it exits early, the error has its output. */
export async function startProgram({ command, args, env, answers }: Start): Promise<Program> {
  const child = spawn(command, args, {
    cwd: projectFolder,
    env: { PATH: process.env.PATH, HOME: tmpdir(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  child.once('error', (error) => {
    output += error.message
  })
  const ended = once(child, 'exit')
  const program = { pid: child.pid ?? 0, output: () => output, ended, [Symbol.asyncDispose]: () => end(child) }
  const until = Date.now() + startWithinMs
  for (;;) {
    try {
      await answers()
      return program
    } catch (error) {
      if (!isOver(child) && Date.now() < until) {
        await sleep(50)
        continue
      }
      await end(child)
      throw new Error(`${command} ${args.join(' ')} does not respond (${String(error)}). Its output:\n${output}`)
    }
  }
}

export async function temporaryFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'tributary-deploy-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

function isOver(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

async function end(child: ChildProcess): Promise<void> {
  if (isOver(child)) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
  await exited
  clearTimeout(timer)
}

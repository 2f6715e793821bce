import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import type { SampleWorkspaces } from './sample.ts'
import type { Settings } from './settings.ts'

/** The sample data of a development installation: workspaces with their API keys, and the number of clicks sent. */
export type Sample = { workspaces: SampleWorkspaces; clicks: number }

/** Folder for all data of `npm run dev`. Git ignores it; delete it to start with empty databases. */
export const folder = '.dev'

// A relative path, because Unix socket paths are limited to about 100 characters.
const socket = join(folder, 'running.sock')
const files = { settings: join(folder, 'settings.json'), sample: join(folder, 'sample.json') }

/** Locks the data folder until disposed; throws if another `npm run dev` uses it. */
export async function claimFolder(): Promise<AsyncDisposable> {
  await mkdir(folder, { recursive: true })
  if (await isRunning()) throw new Error('`npm run dev` already runs in this checkout. Use it, or stop it first.')
  // Removes the socket that a killed process left behind.
  await rm(socket, { force: true })
  const server = createServer((connection) => connection.destroy())
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socket, resolve))
  return {
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export function isRunning(): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket)
    connection.once('connect', () => resolve(true)).once('error', () => resolve(false))
    connection.once('connect', () => connection.destroy())
  })
}

export function readSettings(): Promise<Settings | undefined> {
  return readJson<Settings>(files.settings)
}

export function writeSettings(settings: Settings): Promise<void> {
  return writeJson(files.settings, settings)
}

export function readSample(): Promise<Sample | undefined> {
  return readJson<Sample>(files.sample)
}

export function writeSample(sample: Sample): Promise<void> {
  return writeJson(files.sample, sample)
}

async function readJson<T>(file: string): Promise<T | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  return text === undefined ? undefined : (JSON.parse(text) as T)
}

function writeJson(file: string, value: unknown): Promise<void> {
  // Readable only by the owner, because these files contain secrets and API keys.
  return writeFile(file, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
}

import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from '../../platform/clock.ts'
import type { Platform } from '../../platform/context.ts'
import { jetStream } from '../../platform/nats.ts'

export type SpooledMessage = { subject: string; id: string; body: string }
export type Spool = AsyncDisposable & {
  append(message: SpooledMessage): Promise<void>
  /** False while the log is known to be away, so that nobody waits for it. */
  isQuiet(): boolean
}

const drainEveryMs = 250

/** One file a message, named so that a restart sends the same message id again, oldest first. */
export async function openSpool(platform: Platform): Promise<Spool> {
  const { config, log, metrics } = platform
  const directory = join(config.SPOOL_DIRECTORY, 'clicks')
  await mkdir(directory, { recursive: true })
  let bytes = await sizeOf(directory)
  let written = 0
  let away = false
  metrics.spoolBytes.set(bytes)
  const stopping = new AbortController()
  const draining = drain()

  async function drain(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (bytes > 0) {
        await sendAll().catch((error) =>
          log.debug({ error: (error as Error).message }, 'The spool keeps its clicks for now'),
        )
      }
      await sleep(drainEveryMs, stopping.signal)
    }
  }

  async function sendAll(): Promise<void> {
    const stream = jetStream(platform.nats)
    for (const name of (await readdir(directory)).filter((name) => name.endsWith('.json')).sort()) {
      const text = await readFile(join(directory, name), 'utf8')
      const message = JSON.parse(text) as SpooledMessage
      await stream.publish(message.subject, message.body, {
        msgID: message.id,
        timeout: config.CAPTURE_DEADLINE_MS,
        retries: 1,
      })
      away = false
      await rm(join(directory, name))
      bytes -= Buffer.byteLength(text)
      metrics.spoolBytes.set(bytes)
    }
    log.info('The spool is empty again: all its clicks are in the log')
  }

  return {
    isQuiet: () => !away,
    async append(message) {
      const text = JSON.stringify(message)
      const size = Buffer.byteLength(text)
      if (bytes + size > config.SPOOL_MAX_MEGABYTES * 1_048_576) {
        throw new Error(`The spool in ${directory} is full (SPOOL_MAX_MEGABYTES=${config.SPOOL_MAX_MEGABYTES})`)
      }
      away = true
      bytes += size
      const name = `${String(Date.now()).padStart(15, '0')}-${String(written++).padStart(9, '0')}-${message.id}.json`
      await writeDurably(directory, name, text)
      metrics.spoolBytes.set(bytes)
    },
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await draining
    },
  }
}

async function writeDurably(directory: string, name: string, text: string): Promise<void> {
  const draft = join(directory, `${name}.draft`)
  const file = await open(draft, 'w')
  await file.writeFile(text)
  await file.datasync()
  await file.close()
  await rename(draft, join(directory, name))
  const folder = await open(directory, 'r')
  await folder.sync()
  await folder.close()
}

async function sizeOf(directory: string): Promise<number> {
  const sizes = (await readdir(directory)).map(async (name) => (await stat(join(directory, name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

import { open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from '../../platform/clock.ts'
import type { Platform } from '../../platform/context.ts'
import { jetStream } from '../../platform/nats.ts'
import { redirectMetrics } from './metrics.ts'
import { claimAbandoned, claimFolder, messageFiles } from './spool/folders.ts'

export type SpooledMessage = { subject: string; id: string; body: string }
export type Spool = AsyncDisposable & {
  append(message: SpooledMessage): Promise<void>
  /** False while NATS is known to be down: then clicks go to the spool without waiting for NATS. */
  isQuiet(): boolean
}

const drainIntervalMs = 250
const adoptIntervalMs = 5_000
const abandonedMs = 10_000

/** Spools clicks on disk while NATS is down: one file per message, named by time and message id, sent oldest first. */
export async function openSpool(platform: Platform, folder = 'clicks'): Promise<Spool> {
  const { config, log } = platform
  const metrics = redirectMetrics(platform)
  await using opening = new AsyncDisposableStack()
  const { path: directory } = opening.use(await claimFolder(config.SPOOL_DIRECTORY, folder, log))
  await removeDrafts(directory)
  let bytes = await measureFolder(directory)
  let written = 0
  let isNatsDown = false
  const sharers = config.ROLES.includes('redirect') ? config.REDIRECT_PROCESSES : 1
  const mostBytes = Math.floor((config.SPOOL_MAX_MEGABYTES * 1_048_576) / sharers)
  metrics.spoolBytes.set(bytes)
  metrics.spoolLimit.set(mostBytes)
  let abandoned: string[] = []
  let adoptedAt = Number.NEGATIVE_INFINITY
  const stopping = new AbortController()
  const locked = opening.move()
  const draining = drain()

  async function drain(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await drainOnce()
      } catch (error) {
        log.debug({ error: (error as Error).message }, 'spooled clicks could not be sent to the log, will retry')
      }
      await measure().catch((error) => log.warn({ error: (error as Error).message }, 'spool folder is not readable'))
      await sleep(drainIntervalMs, stopping.signal)
    }
  }

  async function drainOnce(): Promise<void> {
    if (bytes > 0) {
      await sendAll(directory, (sent) => {
        bytes -= sent
        metrics.spoolBytes.set(bytes)
      })
      log.info('all spooled clicks are in the event log')
    }
    if (performance.now() - adoptedAt < adoptIntervalMs) return
    adoptedAt = performance.now()
    await adopt()
  }

  /** Sends spooled clicks of processes that do not start again, for example after scaling down. */
  async function adopt(): Promise<void> {
    abandoned = []
    for await (const { path } of claimAbandoned(config.SPOOL_DIRECTORY, directory)) {
      await removeDrafts(path)
      abandoned = await messageFiles(path)
      await sendAll(path)
      log.info({ path, messages: abandoned.length }, 'sent the spooled clicks of a stopped process')
      abandoned = []
    }
  }

  async function measure(): Promise<void> {
    const names = [...(bytes > 0 ? await messageFiles(directory) : []), ...abandoned].sort()
    metrics.spoolMessages.set(names.length)
    const { bavail, blocks } = await statfs(directory)
    platform.metrics.diskFree.set({ disk: 'spool' }, bavail / blocks)
    metrics.spoolAge.set(names[0] ? Math.max(0, Date.now() - Number.parseInt(names[0], 10)) / 1000 : 0)
  }

  async function sendAll(from: string, whenSent: (bytes: number) => void = () => {}): Promise<void> {
    const stream = jetStream(platform.nats)
    for (const name of await messageFiles(from)) {
      const file = join(from, name)
      const content = await readFile(file)
      const message = parseMessage(content)
      if (message) {
        await stream.publish(message.subject, message.body, {
          msgID: message.id,
          timeout: config.CAPTURE_DEADLINE_MS,
          retries: 1,
        })
        isNatsDown = false
        await rm(file)
      } else {
        log.error({ file }, 'spool file is damaged and was renamed to .broken')
        await rename(file, `${file}.broken`)
      }
      whenSent(content.length)
    }
  }

  return {
    isQuiet: () => !isNatsDown,
    async append(message) {
      const text = JSON.stringify(message)
      const size = Buffer.byteLength(text)
      if (bytes + size > mostBytes) {
        throw new Error(`The spool in ${directory} is full (SPOOL_MAX_MEGABYTES=${config.SPOOL_MAX_MEGABYTES})`)
      }
      isNatsDown = true
      bytes += size
      const name = `${String(Date.now()).padStart(15, '0')}-${String(written++).padStart(9, '0')}-${message.id}.json`
      await writeDurably(directory, name, text).catch((error) => {
        bytes -= size
        // Only sending a spooled file detects that NATS is up again, so with an empty spool NATS is assumed up.
        if (bytes === 0) isNatsDown = false
        throw error
      })
      metrics.spoolBytes.set(bytes)
    },
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await draining
      await locked[Symbol.asyncDispose]()
    },
  }
}

async function writeDurably(directory: string, name: string, text: string): Promise<void> {
  const [draft, final] = [join(directory, `${name}.draft`), join(directory, name)]
  try {
    await writeSynced(draft, text)
    await rename(draft, final)
    await using folder = await open(directory, 'r')
    await folder.sync()
  } catch (error) {
    // The caller counts these clicks as lost, so their files must not be sent later or fill the disk.
    for (const path of [draft, final]) await rm(path, { force: true }).catch(() => {})
    throw error
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  await using file = await open(path, 'w')
  await file.writeFile(text)
  await file.datasync()
}

/** Removes unfinished spool files of an ended process, whose clicks were not acknowledged. A new file may be in use. */
async function removeDrafts(directory: string): Promise<void> {
  const drafts = (await readdir(directory)).filter((name) => name.endsWith('.draft'))
  for (const path of drafts.map((name) => join(directory, name))) {
    const { mtimeMs } = await stat(path)
    if (mtimeMs < Date.now() - abandonedMs) await rm(path, { force: true })
  }
}

function parseMessage(content: Buffer): SpooledMessage | undefined {
  try {
    return JSON.parse(content.toString('utf8'))
  } catch {
    return undefined
  }
}

async function measureFolder(directory: string): Promise<number> {
  const sizes = (await messageFiles(directory)).map(async (name) => (await stat(join(directory, name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

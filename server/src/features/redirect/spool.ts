import { open, opendir, readFile, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from '../../platform/clock.ts'
import { countVisitorProcesses } from '../../platform/config.ts'
import type { Platform } from '../../platform/context.ts'
import { jetStream } from '../../platform/nats.ts'
import { redirectMetrics } from './metrics.ts'
import { claimAbandoned, claimFolder, messageFiles, oldestFiles } from './spool/folders.ts'

export type SpooledMessage = { subject: string; id: string; body: string }
export type Spool = AsyncDisposable & {
  append(message: SpooledMessage): Promise<void>
  /** False while NATS is known to be down: then clicks go to the spool without waiting for NATS. */
  isQuiet(): boolean
}

const drainIntervalMs = 250
const adoptIntervalMs = 5_000
const restAfterFailureMs = 10_000
const mostListed = 1_000
const abandonedMs = 10_000

/** Spools clicks on disk while NATS is down: one file per message, named by time and message id, sent oldest first. */
export async function openSpool(platform: Platform, folder = 'clicks'): Promise<Spool> {
  const { config, log } = platform
  const metrics = redirectMetrics(platform)
  await using opening = new AsyncDisposableStack()
  const { path: directory } = opening.use(await claimFolder(config.SPOOL_DIRECTORY, folder, log))
  await removeDrafts(directory)
  let { bytes, files } = await measureFolder(directory)
  let written = 0
  let isNatsDown = false
  const sharers = config.ROLES.includes('redirect') ? countVisitorProcesses(config) : 1
  const mostBytes = Math.floor((config.SPOOL_MAX_MEGABYTES * 1_048_576) / sharers)
  metrics.spoolBytes.set(bytes)
  metrics.spoolLimit.set(mostBytes)
  /** The oldest files of the own folder and of an adopted one; kept while NATS is down, so that they are listed once. */
  let oldest: string[] = []
  let abandoned: string[] = []
  let adoptsAt = Number.NEGATIVE_INFINITY
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
    if (files > 0) {
      while (await fillOldest()) {
        await send(directory, oldest, (sent) => {
          bytes -= sent
          files -= 1
          metrics.spoolBytes.set(bytes)
        })
      }
      log.info('all spooled clicks are in the event log')
    }
    if (performance.now() < adoptsAt) return
    adoptsAt = performance.now() + restAfterFailureMs
    await adopt()
    adoptsAt = performance.now() + adoptIntervalMs
  }

  async function fillOldest(): Promise<boolean> {
    if (oldest.length === 0) oldest = await oldestFiles(directory, mostListed)
    return oldest.length > 0
  }

  /** Sends spooled clicks of processes that do not start again, for example after scaling down. */
  async function adopt(): Promise<void> {
    abandoned = []
    for await (const { path } of claimAbandoned(config.SPOOL_DIRECTORY, directory)) {
      await removeDrafts(path)
      let messages = 0
      for (;;) {
        abandoned = await oldestFiles(path, mostListed)
        if (abandoned.length === 0) break
        messages += abandoned.length
        await send(path, abandoned)
      }
      log.info({ path, messages }, 'sent the spooled clicks of a stopped process')
    }
  }

  async function measure(): Promise<void> {
    if (files > 0) await fillOldest()
    const [first] = [...oldest.slice(0, 1), ...abandoned.slice(0, 1)].sort()
    metrics.spoolMessages.set(files + abandoned.length)
    const { bavail, blocks } = await statfs(directory)
    platform.metrics.diskFree.set({ disk: 'spool' }, bavail / blocks)
    metrics.spoolAge.set(first ? Math.max(0, Date.now() - Number.parseInt(first, 10)) / 1000 : 0)
  }

  /** Sends these files and removes them from the list; stops at the first that NATS does not accept. */
  async function send(from: string, names: string[], whenSent: (bytes: number) => void = () => {}): Promise<void> {
    const stream = jetStream(platform.nats)
    for (let [name] = names; name !== undefined; [name] = names) {
      const file = join(from, name)
      const content = await readFile(file).catch(ignoreMissing)
      const message = content && parseMessage(content)
      if (message) {
        await stream.publish(message.subject, message.body, {
          msgID: message.id,
          timeout: config.CAPTURE_DEADLINE_MS,
          retries: 1,
        })
        isNatsDown = false
        await rm(file)
      } else if (content) {
        log.error({ file }, 'spool file is damaged and was renamed to .broken')
        await rename(file, `${file}.broken`)
      }
      names.shift()
      whenSent(content?.length ?? 0)
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
      files += 1
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
  for await (const { name } of await opendir(directory)) {
    if (!name.endsWith('.draft')) continue
    const path = join(directory, name)
    const { mtimeMs } = await stat(path)
    if (mtimeMs < Date.now() - abandonedMs) await rm(path, { force: true })
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

function parseMessage(content: Buffer): SpooledMessage | undefined {
  try {
    return JSON.parse(content.toString('utf8'))
  } catch {
    return undefined
  }
}

async function measureFolder(directory: string): Promise<{ bytes: number; files: number }> {
  let [bytes, files] = [0, 0]
  for await (const name of messageFiles(directory)) {
    bytes += (await stat(join(directory, name))).size
    files += 1
  }
  return { bytes, files }
}

import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { canMount, openSmallDisk } from '../../../test/disk/small-disk.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import type { Platform } from '../../platform/context.ts'
import { openMetrics } from '../../platform/metrics.ts'
import { ensureStreams, eventStream, jetStream } from '../../platform/nats.ts'
import { redirectMetrics } from './metrics.ts'
import { openSpool, type Spool, type SpooledMessage } from './spool.ts'

const engines = await startEngines({ only: ['nats'] })
const shared = await openTestPlatform({ ...engines.urls, EVENT_PARTITIONS: '1', CAPTURE_DEADLINE_MS: '300' })
await ensureStreams(shared.nats, shared.config)
const manager = await jetstreamManager(shared.nats)
afterAll(() => engines.stop())
const mayMount = await canMount()

let platform: Platform
let directory: string
const opened: Spool[] = []

beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-spool-'))
  directory = join(folder, 'clicks')
  await mkdir(directory)
  platform = { ...shared, metrics: openMetrics(), config: { ...shared.config, SPOOL_DIRECTORY: folder } }
  await manager.streams.purge(eventStream(0))
})

afterEach(async () => {
  for (const spool of opened.splice(0)) await spool[Symbol.asyncDispose]()
  await rm(platform.config.SPOOL_DIRECTORY, { recursive: true, force: true })
})

async function open(): Promise<Spool> {
  const spool = await openSpool(platform)
  opened.push(spool)
  return spool
}

function someMessage(body: string): SpooledMessage {
  return { subject: 'events.0.clicks', id: randomUUID(), body }
}

async function readLog(): Promise<{ id: string; body: string }[]> {
  const { state } = await manager.streams.info(eventStream(0))
  if (state.messages === 0) return []
  const consumer = await jetStream(platform.nats).consumers.get(eventStream(0))
  const read: { id: string; body: string }[] = []
  for await (const message of await consumer.fetch({ max_messages: state.messages, expires: 2_000 })) {
    read.push({ id: message.headers?.get('Nats-Msg-Id') ?? '', body: message.string() })
  }
  return read
}

async function spoolBytes(): Promise<number | undefined> {
  return (await redirectMetrics(platform).spoolBytes.get()).values[0]?.value
}

const drained = () => eventually(async () => expect(await readdir(directory)).toEqual([]))

describe('append', () => {
  test('resolves when the whole message is in a file, under a name that sorts by time', async () => {
    await engines.processes.nats?.stop()
    const spool = await open()
    const messages = Array.from({ length: 12 }, (_, index) => someMessage(`[${index}]`))
    for (const message of messages) {
      await spool.append(message)
      const names = (await readdir(directory)).sort()
      expect(JSON.parse(await readFile(join(directory, names.at(-1) ?? ''), 'utf8'))).toEqual(message)
    }
    const sizes = messages.map((message) => Buffer.byteLength(JSON.stringify(message)))
    expect(await spoolBytes()).toBe(sizes.reduce((sum, size) => sum + size, 0))
    await engines.processes.nats?.restart()
    await drained()
    expect(await readLog()).toEqual(messages.map(({ id, body }) => ({ id, body })))
    expect(await spoolBytes()).toBe(0)
  })

  test('reports NATS as down until a spooled message is sent', async () => {
    const spool = await open()
    expect(spool.isQuiet()).toBe(true)
    const appended = spool.append(someMessage('[]'))
    expect(spool.isQuiet()).toBe(false)
    await appended
    await drained()
    expect(spool.isQuiet()).toBe(true)
  })

  test('refuses a message above the spool size limit, and accepts the next message that fits', async () => {
    platform = { ...platform, config: { ...platform.config, SPOOL_MAX_MEGABYTES: 1 } }
    await engines.processes.nats?.stop()
    const spool = await open()
    await spool.append(someMessage('a'.repeat(700_000)))
    await expect(spool.append(someMessage('a'.repeat(700_000)))).rejects.toThrow(
      `The spool in ${directory} is full (SPOOL_MAX_MEGABYTES=1)`,
    )
    await spool.append(someMessage('a'.repeat(300_000)))
    expect(await readdir(directory)).toHaveLength(2)
    await engines.processes.nats?.restart()
    await drained()
  })

  test('sends more messages than it lists at once, oldest first, and reports their number meanwhile', async () => {
    await engines.processes.nats?.stop()
    const messages = Array.from({ length: 2_300 }, (_, index) => someMessage(`[${index}]`))
    await mkdir(directory, { recursive: true })
    const names = messages.map(({ id }, index) => `${String(index).padStart(15, '0')}-000000000-${id}.json`)
    for (const [index, message] of messages.entries())
      await writeFile(join(directory, names[index] as string), JSON.stringify(message))
    await open()
    await eventually(async () => {
      expect((await redirectMetrics(platform).spoolMessages.get()).values[0]?.value).toBe(messages.length)
    })
    await engines.processes.nats?.restart()
    await drained()
    expect((await readLog()).map(({ body }) => body)).toEqual(messages.map(({ body }) => body))
    expect(await spoolBytes()).toBe(0)
  })

  test('does not count a failed write, so that later clicks still go to the log', async () => {
    const spool = await open()
    await rm(directory, { recursive: true })
    await writeFile(directory, 'not a folder')
    await expect(spool.append(someMessage('[]'))).rejects.toThrow()
    expect(spool.isQuiet()).toBe(true)
    await rm(directory)
    await mkdir(directory)
    await spool.append(someMessage('[1]'))
    await drained()
    await eventually(async () => expect(await spoolBytes()).toBe(0))
  })

  test.skipIf(!mayMount)(
    'leaks no file handle and leaves no draft on a full disk, and works again with space',
    async () => {
      await using disk = await openSmallDisk(1)
      platform = { ...platform, config: { ...platform.config, SPOOL_DIRECTORY: disk.folder } }
      await using spool = await openSpool(platform)
      const folder = join(disk.folder, 'clicks')
      await disk.fill()
      const handles = async () => (await readdir('/proc/self/fd')).length
      const before = await handles()
      for (let count = 0; count < 50; count++)
        await expect(spool.append(someMessage('a'.repeat(100_000)))).rejects.toThrow('ENOSPC')
      expect(await readdir(folder)).toEqual([])
      expect(await handles()).toBeLessThan(before + 10)
      expect(await spoolBytes()).toBe(0)
      await disk.free()
      await spool.append(someMessage('["with space"]'))
      await eventually(async () => expect(await readdir(folder)).toEqual([]))
      expect((await readLog()).map(({ body }) => body)).toEqual(['["with space"]'])
    },
  )
})

describe('openSpool', () => {
  async function leaveBehind(name: string, message: SpooledMessage | string): Promise<void> {
    await writeFile(join(directory, name), typeof message === 'string' ? message : JSON.stringify(message))
  }

  test('sends the messages of an earlier process, oldest first, with the same ids', async () => {
    const messages = Array.from({ length: 5 }, (_, index) => someMessage(`["${index}"]`))
    for (const [index, message] of messages.entries()) {
      await leaveBehind(`${String(1_000 - index).padStart(15, '0')}-000000000-${message.id}.json`, message)
    }
    await open()
    await drained()
    expect(await readLog()).toEqual(messages.toReversed().map(({ id, body }) => ({ id, body })))
    expect(await spoolBytes()).toBe(0)
  })

  test('sends no message twice that the log already has', async () => {
    const message = someMessage('["once"]')
    await jetStream(platform.nats).publish(message.subject, message.body, { msgID: message.id })
    await leaveBehind(`000000000000001-000000000-${message.id}.json`, message)
    await open()
    await drained()
    expect(await readLog()).toHaveLength(1)
  })

  test('removes incomplete drafts without sending them', async () => {
    const whole = someMessage('["whole"]')
    await leaveBehind('000000000000001-000000000-a.json.draft', '{"subject":"events.0.cli')
    await leaveBehind('000000000000002-000000000-b.json.draft', someMessage('["unacknowledged"]'))
    await leaveBehind(`000000000000003-000000000-${whole.id}.json`, whole)
    for (const name of await readdir(directory)) await utimes(join(directory, name), 0, Date.now() / 1000 - 11)
    await leaveBehind('000000000000004-000000000-c.json.draft', '{"subject":"another process is wri')
    await open()
    await eventually(async () => expect(await readdir(directory)).toEqual(['000000000000004-000000000-c.json.draft']))
    expect((await readLog()).map(({ body }) => body)).toEqual(['["whole"]'])
    expect(await spoolBytes()).toBe(0)
  })

  test('renames an unreadable file, and sends the rest', async () => {
    const good = someMessage('["good"]')
    await leaveBehind('000000000000001-000000000-a.json', '{"subject":"eve')
    await leaveBehind(`000000000000002-000000000-${good.id}.json`, good)
    await open()
    await eventually(async () => expect(await readdir(directory)).toEqual(['000000000000001-000000000-a.json.broken']))
    expect((await readLog()).map(({ body }) => body)).toEqual(['["good"]'])
    await eventually(async () => expect(await spoolBytes()).toBe(0))
  })

  test('sends spooled messages of stopped processes, but not of running processes', async () => {
    const orphan = someMessage('["of a stopped redirect"]')
    const old = someMessage('["of a stopped api"]')
    for (const [name, message] of [
      ['clicks-5', orphan],
      ['page-clicks', old],
    ] as const) {
      await mkdir(join(directory, '..', name))
      await writeFile(
        join(directory, '..', name, `000000000000001-000000000-${message.id}.json`),
        JSON.stringify(message),
      )
    }
    await engines.processes.nats?.stop()
    const [running, other] = [await open(), await open()]
    const own = someMessage('["of a running one"]')
    await other.append(own)
    expect(await readdir(join(directory, '..', 'clicks-1'))).toHaveLength(1)
    await running[Symbol.asyncDispose]()
    expect((await readdir(join(directory, '..'))).filter((name) => !name.endsWith('.lock')).sort()).toEqual([
      'clicks',
      'clicks-1',
      'clicks-5',
      'page-clicks',
    ])
    await engines.processes.nats?.restart()
    await eventually(async () => {
      for (const name of ['clicks-1', 'clicks-5', 'page-clicks'])
        expect(await readdir(join(directory, '..', name))).toEqual([])
    }, 20_000)
    const bodies = (await readLog()).map(({ body }) => body).sort()
    expect(bodies).toEqual([orphan, old, own].map(({ body }) => body).sort())
  })

  test('divides the maximum spool size among processes that share a port', async () => {
    platform = { ...platform, config: { ...platform.config, SPOOL_MAX_MEGABYTES: 3, REDIRECT_PROCESSES: 3 } }
    await engines.processes.nats?.stop()
    const spool = await open()
    await spool.append(someMessage('a'.repeat(700_000)))
    await expect(spool.append(someMessage('a'.repeat(700_000)))).rejects.toThrow('is full (SPOOL_MAX_MEGABYTES=3)')
    await engines.processes.nats?.restart()
    await drained()
  })

  test('creates the missing spool folder', async () => {
    await rm(directory, { recursive: true })
    await open()
    expect(await readdir(directory)).toEqual([])
  })

  test('keeps its files while NATS is down, even when the process stops', async () => {
    const message = someMessage('["kept"]')
    await leaveBehind(`000000000000001-000000000-${message.id}.json`, message)
    await engines.processes.nats?.stop()
    const spool = await open()
    await new Promise((resolve) => setTimeout(resolve, 400))
    await spool[Symbol.asyncDispose]()
    expect(await readdir(directory)).toHaveLength(1)
    await engines.processes.nats?.restart()
    await open()
    await drained()
    expect(await readLog()).toEqual([{ id: message.id, body: '["kept"]' }])
  })
})

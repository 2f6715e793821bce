import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, inject, test, vi } from 'vitest'
import { startEngines } from '../../../engines/start.ts'
import { openTestPlatform } from '../../test/stack.ts'
import { ensureStreams, jetStream } from '../platform/nats.ts'

// A long timeout, because starting a process is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 })
const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const engines = await startEngines({ only: ['nats'] })
const platform = await openTestPlatform(engines.urls)
afterAll(() => engines.stop())

test('dead letters are listed and retried, and mistakes are reported in one line', async () => {
  const before = await tributary('list')
  expect(before).toEqual(refusal('The event log has no streams yet. Run: tributary migrate'))
  await ensureStreams(platform.nats, platform.config)
  expect(await tributary('list')).toEqual({ code: 0, stdout: 'There are no dead letters.\n', stderr: '' })

  for (const body of ['one', 'two']) {
    const letter = { reason: 'malformed', sequence: 1, index: 0, body }
    await jetStream(platform.nats).publish('dead.events.0', JSON.stringify(letter))
  }
  await jetStream(platform.nats).publish('dead.events.4000', JSON.stringify({ reason: 'malformed', body: 7 }))
  const [short, json] = await Promise.all([tributary('list', '--limit', '1'), tributary('list', '--json')])
  const [head, row, more] = short.stdout.split('\n')
  expect(head).toMatch(/^SEQUENCE +AT +SUBJECT +REASON +EXCERPT$/)
  expect(row).toMatch(/^1 +\d{4}-\S+Z +dead\.events\.0 +malformed +one$/)
  expect(more).toBe('2 more dead letters; raise --limit to list them.')
  expect(JSON.parse(json.stdout)).toMatchObject([
    { sequence: 1, subject: 'dead.events.0', reason: 'malformed', excerpt: 'one' },
    { sequence: 2, excerpt: 'two' },
    { sequence: 3, excerpt: '7' },
  ])

  expect(await tributary('retry', '--sequence', '1')).toEqual({ code: 0, stdout: 'Retried: 1.\n', stderr: '' })
  const [missing, none, bad] = await Promise.all([
    tributary('retry', '--sequence', '1'),
    tributary('retry'),
    tributary('retry', '--sequence', 'x'),
  ])
  expect(missing).toEqual(refusal('There is no dead letter 1. `tributary events dead-letters list` shows them.'))
  expect(none).toEqual(refusal('Choose one of --sequence <number>, --reference <reference> or --all.'))
  expect(bad).toEqual(refusal('--sequence x must be a whole number, at least 1.'))
  expect(await tributary('retry', '--all')).toEqual({
    code: 1,
    stdout: 'Retried: 1.\nDead letter 3 was not retried: partition 4000 exceeds EVENT_PARTITIONS.\n',
    stderr: '',
  })
})

async function tributary(...words: string[]) {
  const env = { PATH: process.env.PATH, ...inject('environment'), ...engines.urls }
  const line = [main, 'events', 'dead-letters', ...words]
  const child = spawn(process.execPath, line, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 30_000 })
  const code = new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, stdout, stderr }
}

function refusal(message: string) {
  return { code: 1, stdout: '', stderr: `${message}\n` }
}

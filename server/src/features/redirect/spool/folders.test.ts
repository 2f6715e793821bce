import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { eventually } from '../../../../test/stack.ts'
import { openLog } from '../../../platform/log.ts'
import { claimAbandoned, claimFolder } from './folders.ts'

// These tests start processes, which takes long on a busy machine.
vi.setConfig({ testTimeout: 60_000 })
const log = openLog('silent')
let parent: string
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'tributary-folders-'))
})
afterEach(() => rm(parent, { recursive: true, force: true }))

test('each process claims the first free spool folder', async () => {
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => claimFolder(parent, 'clicks', log)))
  expect([first, second, third].map((folder) => folder?.path).sort()).toEqual(
    ['clicks', 'clicks-1', 'clicks-2'].map((name) => join(parent, name)),
  )
  const page = await claimFolder(parent, 'page-clicks', log)
  expect(page.path).toBe(join(parent, 'page-clicks'))
  second?.[Symbol.dispose]()
  const next = await claimFolder(parent, 'clicks', log)
  expect(next.path).toBe(second?.path)
  for (const folder of [first, third, page, next]) folder?.[Symbol.dispose]()
})

test('the spool folder of a killed process goes to the next process', async () => {
  const other = await claimElsewhere()
  using beside = await claimFolder(parent, 'clicks', log)
  expect(beside.path).toBe(join(parent, 'clicks-1'))
  other.kill('SIGKILL')
  await once(other, 'exit')
  using next = await claimFolder(parent, 'clicks', log)
  expect(next.path).toBe(join(parent, 'clicks'))
})

test("a spool folder that can't be locked is used all the same, and an error is logged", async () => {
  await mkdir(join(parent, 'clicks.lock'))
  const problems: string[] = []
  using folder = await claimFolder(parent, 'clicks', {
    error: (_: unknown, text: string) => void problems.push(text),
  } as never)
  expect(folder.path).toBe(join(parent, 'clicks'))
  expect(problems).toHaveLength(1)
})

test('claimAbandoned claims only folders with messages of stopped processes', async () => {
  using own = await claimFolder(parent, 'clicks', log)
  using busy = await claimFolder(parent, 'clicks', log)
  for (const name of ['clicks-2', 'clicks-7', 'page-clicks', 'empty', 'clicks-8'])
    await mkdir(join(parent, name), { recursive: true })
  for (const name of [own.path, busy.path, ...['clicks-7', 'page-clicks', 'empty'].map((name) => join(parent, name))])
    await writeFile(join(name, '1.json'), '{}')
  await writeFile(join(parent, 'clicks-8', '1.json.draft'), '{')
  const found: string[] = []
  for await (const { path } of claimAbandoned(parent, own.path)) {
    found.push(path)
    // No other process can claim the abandoned folder meanwhile.
    for await (const other of claimAbandoned(parent, own.path)) expect(other.path).not.toBe(path)
  }
  expect(found.sort()).toEqual(['clicks-7', 'page-clicks'].map((name) => join(parent, name)))
})

async function claimElsewhere(): Promise<ChildProcess> {
  const file = new URL('./folders.ts', import.meta.url).href
  const code = `const { claimFolder } = await import(${JSON.stringify(file)})
globalThis.folder = await claimFolder(${JSON.stringify(parent)}, 'clicks', console)
console.log(folder.path)
setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  await eventually(async () => expect(output.trim()).toBe(join(parent, 'clicks')), 30_000)
  return child
}

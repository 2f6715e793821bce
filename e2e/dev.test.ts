import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@tributary/contract/client'
import { createLink, listLinks } from '@tributary/contract/links'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { canListen, freePort } from '../engines/port.ts'
import { eventually } from '../server/test/stack.ts'
import { linkPackages } from './old-version.ts'

type Dev = { api: string; key: string; child: ChildProcess; printed(): string; said(): string }

const root = fileURLToPath(new URL('..', import.meta.url))
const portCount = 7
const restartWithinMs = 3_000
const maxChanges = 5
const startWithinMs = 120_000

let copy: string
let firstPort: number
const running = new Set<ChildProcess>()

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'dev-test-'))
  // For root, PostgreSQL runs as another user, who must be able to enter the folder.
  await chmod(copy, 0o755)
  const files = 'git ls-files -z --cached --others --exclude-standard | tar -c --null -T - --ignore-failed-read'
  await promisify(execFile)('sh', ['-c', `${files} 2>/dev/null | tar -x -C "$1"`, 'sh', copy], { cwd: root })
  await linkPackages(copy)
  if (existsSync(join(root, '.tools'))) await symlink(join(root, '.tools'), join(copy, '.tools'))
  firstPort = await freePorts()
})
afterEach(async () => {
  for (const child of running) await stop(child)
})
afterAll(async () => {
  await rm(copy, { recursive: true, force: true })
})

test('npm run dev serves a changed file within 3 s and keeps its data', { timeout: 400_000 }, async () => {
  const first = await startDev()
  expect(first.printed().trimEnd().split('\n')).toHaveLength(1)
  const call = createClient({ url: first.api, token: first.key })
  expect(await countClicks(first)).toBe(2_000)
  await call(createLink, { body: { url: 'https://example.com/mine', key: 'mine', domain: 'demo.localhost' } })

  const second = await failingStart()
  expect(second).toMatch(/already runs/)

  const times: number[] = []
  let allowedMs: number
  do {
    // Waits until the standby process has loaded, as between two saves of a developer.
    await sleep(2_000)
    // Other programs share the machine, so a restart may take twice as long as loading the roles takes now.
    allowedMs = Math.max(restartWithinMs, 2 * (await measureLoading()))
    times.push(await changeAnswer(first, times.length + 1))
  } while ((times.at(-1) as number) > allowedMs && times.length < maxChanges)
  const listed = times.map((ms) => `${Math.round(ms)} ms`).join(', ')
  console.info(`a changed file is served after ${listed}; ${Math.round(allowedMs)} ms are allowed`)
  expect(times.at(-1)).toBeLessThan(allowedMs)

  const source = await readFile(join(copy, answerFile), 'utf8')
  await writeFile(join(copy, answerFile), `${source}\nlet x = = 1\n`)
  await eventually(async () => expect(first.said()).toMatch(/SyntaxError[\s\S]*does not load/), 20_000)
  expect(await health(first)).toContain(`alive-${times.length}`)
  await writeFile(join(copy, answerFile), source.replace(/alive[-\d]*/, 'alive-again'))
  await eventually(async () => expect(await health(first)).toContain('alive-again'), 20_000)

  await seed('500')
  expect(await countClicks(first)).toBe(2_500)
  await stop(first.child)
  expect(await Promise.all(ports().map(canListen))).toEqual(ports().map(() => true))

  const third = await startDev()
  expect(third.said()).not.toMatch(/Sending/)
  expect(third.key).toBe(first.key)
  expect(await countClicks(third)).toBe(2_500)
  expect((await listSample(third)).map(({ key }) => key)).toContain('mine')
  await stop(third.child)
})

test('npm run dev reports a port in use, and npm run seed requires a running npm run dev', async () => {
  const other = createServer().listen(firstPort + 4, '127.0.0.1')
  await once(other, 'listening')
  expect(await failingStart()).toContain(`${firstPort + 4} (NATS)`)
  await new Promise((resolve) => other.close(resolve))
  expect(await seed('500')).toMatch(/npm run dev/)
  expect(await seed('none')).toMatch(/--clicks is "none"/)
})

const answerFile = 'server/src/platform/ops.ts'

async function measureLoading(): Promise<number> {
  const roles = ['api', 'redirect', 'worker'].map((role) => join(copy, `server/src/roles/${role}.ts`))
  const script = `for (const role of ${JSON.stringify(roles)}) await import(role); process.exit(0)`
  const startedAt = performance.now()
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  return performance.now() - startedAt
}

/** Changes a file; returns the time from the write to the first changed response. */
async function changeAnswer(dev: Dev, count: number): Promise<number> {
  const source = await readFile(join(copy, answerFile), 'utf8')
  const word = `alive-${count}`
  const startedAt = performance.now()
  await writeFile(join(copy, answerFile), source.replace(/alive[-\d]*/, word))
  await eventually(async () => expect(await health(dev)).toContain(word), 30_000)
  const tookMs = performance.now() - startedAt
  await eventually(async () => expect(dev.said().match(/Restarted in/g)).toHaveLength(count), 30_000)
  return tookMs
}

async function health({ api }: Dev): Promise<string> {
  return (await fetch(`${api}/healthz`)).text()
}

async function startDev(): Promise<Dev> {
  const child = spawnScript('dev', '--port', String(firstPort))
  const [printed, said] = [collect(child.stdout), collect(child.stderr)]
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`npm run dev exited:\n${said()}`)
    expect(printed(), said()).toMatch(/\n$/)
  }, startWithinMs)
  const [, api, key] = printed().match(/API: (\S+) {2}key: (\S+)/) as unknown as [string, string, string]
  return { api, key, child, printed, said }
}

async function failingStart(): Promise<string> {
  const child = spawnScript('dev', '--port', String(firstPort))
  const said = collect(child.stderr)
  const [code] = await once(child, 'close')
  expect(code, said()).toBe(1)
  return said()
}

async function seed(clicks: string): Promise<string> {
  const child = spawnScript('seed', '--clicks', clicks)
  const said = collect(child.stderr)
  await once(child, 'close')
  return said()
}

function spawnScript(name: string, ...parameters: string[]) {
  const child = spawn('npm', ['run', '--silent', name, '--', ...parameters], {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  })
  running.add(child)
  child.once('close', () => running.delete(child))
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  await closed
}

async function countClicks(dev: Dev): Promise<number> {
  return (await listSample(dev)).reduce((sum, link) => sum + link.clicks, 0)
}

async function listSample({ api, key }: Dev) {
  const call = createClient({ url: api, token: key })
  return (await call(listLinks, { query: { domain: 'demo.localhost' } })).filter((link) => !link.partnerId)
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = ''
  stream.on('data', (chunk) => {
    text += chunk
  })
  return () => text
}

function ports(): number[] {
  return Array.from({ length: portCount }, (_, index) => firstPort + index)
}

async function freePorts(): Promise<number> {
  for (;;) {
    firstPort = await freePort()
    if ((await Promise.all(ports().map(canListen))).every(Boolean)) return firstPort
  }
}

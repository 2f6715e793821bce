import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { expectAnswers } from './docs/answers.ts'
import { type Block, readPage } from './docs/blocks.ts'
import { runShell } from './docs/shell.ts'

const timeout = 5 * 60_000
const root = fileURLToPath(new URL('..', import.meta.url))

test('the commands of README, the quick start and guides/partner-program work unchanged, with one demo', {
  timeout,
}, async () => {
  const [demo, ...rest] = readPage('README', join(root, 'README.md')).take('sh') as [Block, ...Block[]]
  expect(demo.text).toBe('npm ci && npm run demo\n')
  const story = rest.slice(
    0,
    rest.findIndex(({ text }) => text.startsWith('./install.sh')),
  )
  const page = readPage('quick-start')
  const [install, ...shell] = page.take('sh') as [Block, ...Block[]]
  // `npm ci` already ran before this test.
  expect(install.text).toBe('npm ci\nnpm run demo\n')
  const guide = readPage('guides/partner-program')
  const guided = guide.take('sh')
  const started = Date.now()
  const line = `${await startDemo()}\n`
  const folder = await mkdtemp(join(tmpdir(), 'quick-start-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const printed = await runShell([...story, ...shell, ...guided], { folder, env: {}, stdin: line + line })
  expect(Date.now() - started).toBeLessThan(timeout)
  expectAnswers(guided, printed)
  guide.take('json')
  expect(guide.left()).toEqual([])
  const [output = ''] = printed.split('== guides/partner-program.md')
  expect(output).toMatch(/^Location: https:\/\/example\.com\/pricing\?utm_source=newsletter\r?$/m)
  expect(output).toMatch(/https:\/\/example\.com\/pricing\?trib_id=[\w-]{40}\n/)
  const [, sales = '', links = ''] =
    output
      .split(/== quick-start\.md:\d+\n/)
      .at(-1)
      ?.split('\n')
      .filter((line) => line.startsWith('[')) ?? []
  expect(JSON.parse(sales)).toMatchObject([
    { sale: { amount: 4900 }, customer: { externalId: 'user-1', name: 'Ada' }, link: { key: 'welcome' } },
  ])
  expect(JSON.parse(links)).toContainEqual(
    expect.objectContaining({ key: 'welcome', clicks: 1, leads: 1, sales: 1, saleAmount: 4900 }),
  )
  expect(page.left()).toEqual([])
})

/** Starts the demo; returns the line that it prints when it is ready. */
async function startDemo(): Promise<string> {
  const temporary = await mkdtemp(join(tmpdir(), 'quick-start-'))
  // For root, PostgreSQL runs as another user, who must be able to enter the folder.
  await chmod(temporary, 0o755)
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: temporary }
  const child = spawn('npm', ['run', '--silent', 'demo'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env })
  onTestFinished(async () => {
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    await closed
    await rm(temporary, { recursive: true, force: true })
  })
  let progress = ''
  child.stderr.on('data', (chunk) => {
    progress += chunk
  })
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error(`The demo exited before it was ready:\n${progress}`)
}

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { expect, inject, test, vi } from 'vitest'
import { buildLink, buildWorkspace } from '../../test/build.ts'
import { openTestPlatform } from '../../test/stack.ts'

// Starting a process takes long on a busy machine, and a difference is looked at again after two seconds.
vi.setConfig({ testTimeout: 60_000 })
const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const environment = inject('environment')
const platform = await openTestPlatform()

test('verify tells what differs with exit code 1, repairs it, and then finds nothing', async () => {
  const workspace = await buildWorkspace(platform)
  const { id, domain, key } = await buildLink(platform, workspace)
  await buildLink(platform, workspace)
  const clean = { code: 0, stdout: 'Links checked: 2. Every counter is what is stored.\n', stderr: '' }
  expect(await tributary('verify', '--workspace', workspace.slug)).toEqual(clean)

  await sql`UPDATE link_counters SET clicks = 5
    WHERE link_number = (SELECT number FROM links WHERE id = ${id})`.execute(platform.db)
  const [found, json] = await Promise.all([
    tributary('verify', '--workspace', workspace.slug),
    tributary('verify', '--workspace', workspace.id, '--json'),
  ])
  expect(found).toMatchObject({ code: 1, stderr: '' })
  const [head, row, , summary, next] = found.stdout.split('\n')
  expect(head).toMatch(/^LINK +ADDRESS +COUNTER +ROWS +DOUBLED$/)
  expect(row?.split(/ +/)).toEqual([id, `${domain}/${key}`, '5', '0', '0'])
  expect(summary).toBe('Links checked: 2. Counters that differ: 1. Unknown links with rows: 0. Doubled rows: 0.')
  expect(next).toBe('Next: tributary verify --repair sets these counters to their rows.')
  expect(json).toMatchObject({ code: 1, stderr: '' })
  expect(JSON.parse(json.stdout)).toEqual({
    links: 2,
    different: 1,
    repaired: 0,
    unknown: 0,
    doubled: 0,
    findings: [
      {
        linkId: id,
        linkNumber: expect.stringMatching(/^\d+$/),
        workspaceId: workspace.id,
        address: `${domain}/${key}`,
        counter: 5,
        rows: 0,
        doubled: 0,
        repaired: false,
      },
    ],
  })

  const repaired = await tributary('verify', '--repair', '--workspace', workspace.slug)
  expect(repaired).toMatchObject({ code: 0, stderr: '' })
  expect(repaired.stdout).toMatch(/ yes\n[\s\S]+\nCounters set to their rows: 1\.\n$/)
  expect(await tributary('verify', '--workspace', workspace.slug)).toEqual(clean)
})

test('verify refuses a workspace that does not exist', async () => {
  expect(await tributary('verify', '--workspace', 'no-such-workspace')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'There is no workspace no-such-workspace. `tributary workspace list` shows them.\n',
  })
})

async function tributary(...words: string[]) {
  const env = { PATH: process.env.PATH, ...environment }
  const child = spawn(process.execPath, [main, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 30_000 })
  const code = new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, stdout, stderr }
}

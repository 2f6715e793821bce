import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { expect, inject, test, vi } from 'vitest'
import { buildCustomer, buildLink, buildWorkspace } from '../../test/build.ts'
import { openTestPlatform } from '../../test/stack.ts'

// A long timeout: starting a process is slow on a busy machine, and a difference is read again after two seconds.
vi.setConfig({ testTimeout: 300_000 })
// On a slow machine, commands print their progress to stderr every five seconds.
const onlyProgress = expect.stringMatching(/^(?: *\d+ %, .*\n)*$/)
const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const environment = inject('environment')
const platform = await openTestPlatform()

test('`verify` reports differences with exit code 1, repairs them, and then finds none', async () => {
  const workspace = await buildWorkspace(platform)
  const { id, domain, key } = await buildLink(platform, workspace)
  await buildLink(platform, workspace)
  const clean = { code: 0, stdout: 'Links checked: 2. Every click counter is correct.\n', stderr: onlyProgress }
  expect(await tributary('verify', '--workspace', workspace.slug)).toEqual(clean)

  await sql`UPDATE link_counters SET clicks = 5
    WHERE link_number = (SELECT number FROM links WHERE id = ${id})`.execute(platform.db)
  const [found, json] = await Promise.all([
    tributary('verify', '--workspace', workspace.slug),
    tributary('verify', '--workspace', workspace.id, '--json'),
  ])
  expect(found).toMatchObject({ code: 1, stderr: onlyProgress })
  const [head, row, , summary, next] = found.stdout.split('\n')
  expect(head).toMatch(/^LINK +ADDRESS +COUNTER +ROWS +DOUBLED$/)
  expect(row?.split(/ +/)).toEqual([id, `${domain}/${key}`, '5', '0', '0'])
  expect(summary).toBe('Links checked: 2. Counters that differ: 1. Unknown links with rows: 0. Doubled rows: 0.')
  expect(next).toBe('Next: tributary verify --repair sets these counters to the stored clicks.')
  expect(json).toMatchObject({ code: 1, stderr: onlyProgress })
  expect(JSON.parse(json.stdout)).toEqual({
    links: 2,
    different: 1,
    repaired: 0,
    unknown: 0,
    doubled: 0,
    conversions: [],
    customers: [],
    totals: [],
    partners: [],
    rollups: [],
    money: [],
    audit: [],
    deadLetters: { conversions: 0, messages: 0 },
    rewinds: [],
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
  expect(repaired).toMatchObject({ code: 0, stderr: onlyProgress })
  expect(repaired.stdout).toMatch(/ yes\n[\s\S]+\nCounters set to the stored clicks: 1\.\n$/)
  expect(await tributary('verify', '--workspace', workspace.slug)).toEqual(clean)
})

test('`verify` reports and repairs link totals that differ from the number of links', async () => {
  const workspace = await buildWorkspace(platform)
  await buildLink(platform, workspace)
  await sql`INSERT INTO link_total_changes (workspace_id, tag_id, domain, folder_id, user_id, archived, change)
    VALUES (${workspace.id}, '*', ${workspace.domain}, '', '', false, 4)`.execute(platform.db)
  const found = await tributary('verify', '--workspace', workspace.slug)
  expect(found).toMatchObject({ code: 1, stderr: onlyProgress })
  expect(found.stdout).toMatch(/ no +5 +1\n\nLink totals that differ: 1\.\nNext: tributary verify --repair/)
  const repaired = await tributary('verify', '--repair', '--workspace', workspace.slug)
  expect(repaired).toMatchObject({ code: 0 })
  expect(repaired.stdout).toMatch(/ no +5 +1 +yes\n/)
  expect(await tributary('verify', '--workspace', workspace.slug)).toMatchObject({ code: 0 })
})

test('`verify` reports and repairs rollups that differ from the event rows', async () => {
  const workspace = await buildWorkspace(platform)
  await platform.clickhouse.command({
    query: `INSERT INTO link_counts (workspace_id, link_number, bucket, bots) VALUES ({id:String}, 1, toStartOfHour(now()), 2)`,
    query_params: { id: workspace.id },
  })
  await platform.clickhouse.command({
    query: `INSERT INTO workspace_counts (workspace_id, bucket, clicks) VALUES ({id:String}, toStartOfHour(now()), 4)`,
    query_params: { id: workspace.id },
  })
  const found = await tributary('verify', '--workspace', workspace.slug)
  expect(found).toMatchObject({ code: 1, stderr: onlyProgress })
  const month = new Date().toISOString().slice(0, 7)
  expect(found.stdout.replaceAll(/ +/g, ' ')).toContain(`workspace_counts clicks ${workspace.id} ${month} 1 0 4`)
  expect(found.stdout).toContain('Rollups that differ: 3.\nNext: tributary verify --repair')
  const repaired = await tributary('verify', '--repair', '--workspace', workspace.slug, '--json')
  expect(repaired.code).toBe(0)
  expect(JSON.parse(repaired.stdout).rollups).toMatchObject([
    { rollup: 'workspace_counts', surplus: 4, repaired: true },
    { rollup: 'link_counts', count: 'bots', surplus: 2, buckets: 1, repaired: true },
    { rollup: 'link_days', count: 'bots', surplus: 2, buckets: 1, repaired: true },
  ])
  expect(await tributary('verify', '--workspace', workspace.slug)).toMatchObject({ code: 0, stderr: onlyProgress })
})

test('`verify` reports and repairs totals of leads, sales and customers that differ from the recorded ones', async () => {
  const workspace = await buildWorkspace(platform)
  const { id } = await buildLink(platform, workspace)
  const customer = await buildCustomer(platform, workspace)
  await sql`UPDATE link_counters SET leads = 2, sale_amount = 50
    WHERE link_number = (SELECT number FROM links WHERE id = ${id})`.execute(platform.db)
  await sql`UPDATE customers SET sales = 1, sale_amount = 50 WHERE id = ${customer.id}`.execute(platform.db)
  const found = await tributary('verify', '--workspace', workspace.slug)
  expect(found).toMatchObject({ code: 1, stderr: onlyProgress })
  expect(found.stdout).toMatch(new RegExp(`${id} .* leads +2 +0 +0 +0\n${id} .* saleAmount +50 +0 +0 +0\n`))
  expect(found.stdout).toContain('Links whose leads or sales differ: 1.\nNext: tributary verify --repair')
  expect(found.stdout).toMatch(new RegExp(`${customer.id} +${workspace.id} +1 +0 +50 +0\n`))
  const repaired = await tributary('verify', '--repair', '--workspace', workspace.slug, '--json')
  expect(repaired).toMatchObject({ code: 0, stderr: onlyProgress })
  const nothing = { leads: 0, sales: 0, saleAmount: 0 }
  expect(JSON.parse(repaired.stdout)).toMatchObject({
    conversions: [
      { linkId: id, counted: { leads: 2, saleAmount: 50 }, recorded: nothing, stored: nothing, repaired: true },
    ],
    customers: [{ customerId: customer.id, counted: { sales: 1, saleAmount: 50 }, repaired: true }],
  })
  expect(await tributary('verify', '--workspace', workspace.slug)).toMatchObject({ code: 0 })
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
  const child = spawn(process.execPath, [main, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 })
  const code = new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, stdout, stderr }
}

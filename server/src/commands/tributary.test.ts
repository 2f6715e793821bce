import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { scopes } from '@tributary/contract/permissions'
import { afterAll, describe, expect, inject, test, vi } from 'vitest'
import { createDatabases } from '../../test/own-database.ts'
import { openTestPlatform } from '../../test/stack.ts'
import { query } from '../platform/clickhouse.ts'
import { tributary as commands } from './tributary.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const compileCache = await mkdtemp(join(tmpdir(), 'tributary-compile-cache-'))
// A long timeout, because starting a process is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 })
const { clickhouse } = await openTestPlatform()
const environment = inject('environment')
const { api } = inject('server')
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

afterAll(() => rm(compileCache, { recursive: true, force: true }))

describe('workspace', () => {
  test('`workspace create` prints the new workspace as text or JSON, and `workspace list` lists it', async () => {
    const [one, other] = [newName(), newName()]
    const plain = await tributary('workspace', 'create', `Ä ${one}`, '--plan', 'pro')
    const id = plain.stdout.match(/ws_[0-9a-f-]{36}/)?.[0]
    expect(plain).toEqual({
      code: 0,
      stdout: `Created workspace a-${one} (${id}) on the pro plan.\nNext: tributary key create a-${one}\n`,
      stderr: '',
    })
    const json = await tributary('workspace', 'create', 'Other', '--slug', other, '--json')
    const made = {
      id: expect.stringMatching(/^ws_/),
      slug: other,
      name: 'Other',
      plan: 'enterprise',
      ipStorage: 'default',
      currency: 'usd',
      allowedHostnames: 'any',
      contactEmail: 'none',
      attribution: 'last-click, 90 days',
      createdAt: instant,
    }
    expect(readAnswer(json)).toEqual(made)

    const [table, list] = await Promise.all([tributary('workspace', 'list'), tributary('workspace', 'list', '--json')])
    expect(readAnswer(list)).toEqual(expect.arrayContaining([expect.objectContaining({ id, name: `Ä ${one}` }), made]))
    const [head, ...rows] = table.stdout.trimEnd().split('\n')
    expect(head).toMatch(
      /^ID +SLUG +NAME +PLAN +IPSTORAGE +CURRENCY +ALLOWEDHOSTNAMES +CONTACTEMAIL +ATTRIBUTION +CREATEDAT$/,
    )
    const columns = new RegExp(`^${id}  a-${one} +Ä ${one} +pro +default +usd +any +none +last-click, 90 days +\\d{4}-`)
    expect(rows.filter((row) => columns.test(row))).toHaveLength(1)
    expect(table).toMatchObject({ code: 0, stderr: '' })
  })

  test('`workspace create` refuses a taken or invalid slug', async () => {
    const slug = newName()
    await tributary('workspace', 'create', slug)
    const [taken, impossible] = await Promise.all([
      tributary('workspace', 'create', slug, '--json'),
      tributary('workspace', 'create', '!', '--json'),
    ])
    expect(taken).toEqual(refusal(`The workspace slug ${slug} is taken. Choose another one.`))
    expect(impossible).toEqual(refusal('The slug "" must be 3 to 48 lower-case letters, digits and dashes.'))
  })
})

test('`workspace set --ip-storage` applies until it is set to `default` again', async () => {
  const slug = newName()
  await tributary('workspace', 'create', slug)
  const own = await tributary('workspace', 'set', slug, '--ip-storage', 'none')
  expect(own).toMatchObject({ code: 0, stderr: '' })
  expect(own.stdout).toMatch(new RegExp(`^Changed ${slug}:\n[^]*\\bnone\\b`))
  const [none, wrong, nobody] = await Promise.all([
    tributary('workspace', 'set', slug),
    tributary('workspace', 'set', slug, '--ip-storage', 'half'),
    tributary('workspace', 'set', newName(), '--ip-storage', 'full'),
  ])
  expect([none, wrong, nobody].map(({ code }) => code)).toEqual([1, 1, 1])
  expect(none.stderr).toContain('--ip-storage')
  expect(wrong.stderr).toContain('eu-truncated')
  expect(nobody.stderr).toMatch(/^There is no workspace /)
  const again = await tributary('workspace', 'set', slug, '--ip-storage', 'default', '--json')
  expect(readAnswer(again)).toMatchObject({ slug, ipStorage: 'default' })
})

test("a workspace's plan can be changed, and applies within a second", async () => {
  const slug = newName()
  await tributary('workspace', 'create', slug, '--plan', 'free')
  const { key } = readAnswer(await tributary('key', 'create', slug, '--json')) as { key: string }
  const listEvents = async () => {
    const response = await fetch(`${api}/events`, { headers: { authorization: `Bearer ${key}` } })
    return [response.status, response.headers.get('x-ratelimit-limit')]
  }
  expect(await listEvents()).toEqual([403, '60'])
  const changed = await tributary('workspace', 'set', slug, '--plan', 'advanced', '--json')
  const changedAt = performance.now()
  expect(readAnswer(changed)).toMatchObject({ slug, plan: 'advanced' })
  while ((await listEvents())[0] !== 200) expect(performance.now() - changedAt).toBeLessThan(1_000)
  expect(await listEvents()).toEqual([200, '8'])
  expect((await tributary('workspace', 'set', slug, '--plan', 'gold')).code).toBe(1)
})

test('attribution settings apply to a workspace', async () => {
  const slug = newName()
  await tributary('workspace', 'create', slug)
  const settings = ['--currency', 'EUR', '--attribution-days', '30', '--attribution-model', 'first-click']
  const changed = await tributary('workspace', 'set', slug, ...settings, '--json')
  expect(readAnswer(changed)).toMatchObject({ currency: 'eur', attribution: 'first-click, 30 days' })
  for (const wrong of [
    ['--currency', 'euro'],
    ['--attribution-days', '0'],
    ['--attribution-days', 'soon'],
    ['--attribution-model', 'any'],
  ]) {
    expect((await tributary('workspace', 'set', slug, ...wrong)).code).toBe(1)
  }
})

test('only pages on the allowed hostnames of a workspace may track', async () => {
  const slug = newName()
  await tributary('workspace', 'create', slug)
  const set = (hostnames: string) => tributary('workspace', 'set', slug, '--allowed-hostnames', hostnames, '--json')
  const answer = await set('WWW.Example.com, *.shop.example,example.com')
  expect(readAnswer(answer)).toMatchObject({ allowedHostnames: 'example.com,*.shop.example' })
  expect(await set('https://example.com')).toEqual(
    refusal('"https://example.com" is not a hostname. Use example.com or *.example.com, or any for all pages.'),
  )
  expect(await set(Array.from({ length: 11 }, (_, index) => `${index}.example`).join())).toEqual(
    refusal('These are 11 hostnames, but at most 10 are allowed. Use `*.example.com` for all subdomains.'),
  )
  expect(readAnswer(await set('any'))).toMatchObject({ allowedHostnames: 'any' })
})

test('`workspace set --contact-email` sets and removes the contact e-mail of a workspace', async () => {
  const slug = newName()
  await tributary('workspace', 'create', slug)
  const set = (email: string) => tributary('workspace', 'set', slug, '--contact-email', email, '--json')
  expect(readAnswer(await set('ops@example.com'))).toMatchObject({ contactEmail: 'ops@example.com' })
  expect(await set('nobody')).toEqual(
    refusal('--contact-email must be an e-mail address such as ops@example.com, or none.'),
  )
  expect(readAnswer(await set('none'))).toMatchObject({ contactEmail: 'none' })
})

test('`tracker` prints the script tag for a page', async () => {
  const { stdout } = await tributaryIn({ API_URL: api }, 'tracker')
  const [, url = '', integrity = ''] =
    /^<script defer src="(.+)" integrity="(.+)" crossorigin="anonymous">/.exec(stdout) ?? []
  expect((await fetch(url, { integrity })).status).toBe(200)
  expect(readAnswer(await tributaryIn({ API_URL: api }, 'tracker', '--json'))).toMatchObject({ url, integrity })
})

describe('key', () => {
  test('`key create --publishable` creates a publishable key', async () => {
    const slug = newName()
    await tributary('workspace', 'create', slug)
    const { stdout } = await tributary('key', 'create', slug, '--publishable')
    const [key = '', explanation] = stdout.trimEnd().split('\n')
    expect(key).toMatch(/^trib_pk_[A-Za-z0-9]{32}$/)
    expect(explanation).toBe(
      'Put this key in your pages: it is not secret. It works on the allowed hostnames of the workspace.',
    )
    expect(await statusWith(key)).toBe(403)
    const list = readAnswer(await tributary('key', 'list', slug, '--json'))
    expect(list).toMatchObject([{ key: `${key.slice(0, 11)}…${key.slice(-4)}`, scopes: ['conversions.write'] }])
  })

  test('an API key is created, works, is listed masked, and stops working when revoked', async () => {
    const slug = newName()
    await tributary('workspace', 'create', slug)
    const none = await tributary('key', 'list', slug)
    expect(none).toEqual({ code: 0, stdout: `No keys yet. Next: tributary key create ${slug}\n`, stderr: '' })

    const [plain, json] = await Promise.all([
      tributary('key', 'create', slug),
      tributary(
        'key',
        'create',
        slug,
        '--name',
        'CI',
        '--scopes',
        'links.read, links.write',
        '--expires',
        '2099-01-31',
        '--json',
      ),
    ])
    const [key, ...explanation] = plain.stdout.trimEnd().split('\n')
    expect(key).toMatch(/^trib_[A-Za-z0-9]{32}$/)
    expect(explanation).toEqual(["Store this key now: the server keeps only its hash and can't show it again."])
    const created = readAnswer(json) as { id: string; key: string }
    expect(created).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'CI',
      key: expect.stringMatching(/^trib_[A-Za-z0-9]{32}$/),
      scopes: ['links.read', 'links.write'],
      expiresAt: '2099-01-31T00:00:00.000Z',
      revokedAt: '',
      lastUsedAt: '',
      createdAt: instant,
    })
    expect(await statusWith(key as string)).toBe(200)
    expect(await statusWith(created.key)).toBe(200)

    const [table, list] = await Promise.all([tributary('key', 'list', slug), tributary('key', 'list', slug, '--json')])
    const masked = `${created.key.slice(0, 8)}…${created.key.slice(-4)}`
    expect(readAnswer(list)).toContainEqual({ ...created, key: masked, lastUsedAt: instant })
    expect(table.stdout).toContain(masked)
    expect(table.stdout + list.stdout).not.toContain(created.key)
    expect(table.stdout + list.stdout).not.toContain(key)

    const revoked = await tributary('key', 'revoke', created.id, '--json')
    expect(readAnswer(revoked)).toMatchObject({ id: created.id, key: masked, revokedAt: instant })
    const again = await tributary('key', 'revoke', created.id)
    expect(again).toEqual({ code: 0, stdout: `Revoked ${masked}.\n`, stderr: '' })
    expect(await statusWith(created.key)).toBe(401)
    expect(await statusWith(key as string)).toBe(200)
  })

  test('`key` commands refuse unknown workspaces, scopes and keys', async () => {
    const slug = newName()
    await tributary('workspace', 'create', slug)
    const [workspace, scope, date, id] = await Promise.all([
      tributary('key', 'create', 'no-such-workspace', '--json'),
      tributary('key', 'create', slug, '--scopes', 'links.read,links.eat'),
      tributary('key', 'create', slug, '--expires', 'tomorrow'),
      tributary('key', 'revoke', 'key_unknown'),
    ])
    expect(workspace).toEqual(
      refusal('There is no workspace no-such-workspace. `tributary workspace list` shows them.'),
    )
    expect(scope).toEqual(refusal(`There is no scope links.eat. Allowed: ${scopes.join(', ')}.`))
    expect(date).toEqual(refusal('--expires tomorrow is not a date. Write it as 2027-01-31.'))
    expect(id).toEqual(refusal('There is no key key_unknown. `tributary key list` shows the ids.'))
  })
})

test('`domain add` makes the first domain primary, and refuses a taken or invalid domain', async () => {
  const slug = newName()
  const { id } = readAnswer(await tributary('workspace', 'create', slug, '--json')) as { id: string }
  const first = await tributary('domain', 'add', slug, `GO.${slug}.example.com`)
  expect(first).toEqual({
    code: 0,
    stdout: `Added go.${slug}.example.com as the primary domain of ${slug}.\n`,
    stderr: '',
  })
  const [second, taken, none] = await Promise.all([
    tributary('domain', 'add', id, `two.${slug}.example.com`, '--json'),
    tributary('domain', 'add', slug, `go.${slug}.example.com`),
    tributary('domain', 'add', slug, 'http://x/', '--json'),
  ])
  expect(readAnswer(second)).toEqual({
    id: expect.stringMatching(/^dom_/),
    slug: `two.${slug}.example.com`,
    primary: false,
    verified: true,
  })
  expect(taken).toEqual(refusal(`The domain go.${slug}.example.com is already in use.`))
  expect(none).toEqual(refusal('"http://x/" is not a host name.'))
})

test('`migrate` applies all migrations to empty databases, and a second time none', async () => {
  const fresh = await createDatabases()
  const before = await tributaryIn(fresh, 'workspace', 'list')
  expect(before).toEqual(refusal('The database has no tables yet. Run: tributary migrate'))

  const first = await tributaryIn(fresh, 'migrate', '--json')
  const { applied } = JSON.parse(first.stdout) as { applied: string[] }
  expect(applied).toContain('postgres: 0001_workspaces.sql')
  expect(applied).toContain('clickhouse: 0001_events.sql')
  expect(first).toEqual({ code: 0, stdout: `${JSON.stringify({ applied })}\n`, stderr: `${applied.join('\n')}\n` })
  const tables = await query<{ name: string }>(
    clickhouse,
    `SHOW TABLES FROM ${new URL(fresh.CLICKHOUSE_URL).pathname.slice(1)}`,
    {},
  )
  expect(tables.map((table) => table.name)).toContain('click_events')

  const second = await tributaryIn(fresh, 'migrate')
  expect(second).toEqual({ code: 0, stdout: 'No migrations are pending.\n', stderr: '' })
  const after = await tributaryIn(fresh, 'workspace', 'list')
  expect(after).toEqual({ code: 0, stdout: 'No workspaces yet. Next: tributary workspace create <name>\n', stderr: '' })
})

test('an invalid command line is reported in one line, before anything is done', async () => {
  const [command, argument] = await Promise.all([tributary('eat'), tributary('workspace', 'create', 'My', 'Company')])
  const known = Object.keys(commands.subCommands ?? {}).join(', ')
  expect(command).toEqual(refusal(`There is no command tributary eat. Known: ${known}.`))
  expect(argument).toEqual(refusal('Unexpected argument "Company". See: tributary workspace create --help'))
})

describe.concurrent('an engine that is down is reported in one line', () => {
  const unreachable = '127.0.0.1:1'
  test.each<[string, string, Record<string, string>, string]>([
    [
      'PostgreSQL',
      'workspace list',
      { POSTGRES_URL: `postgres://u:s3cret@${unreachable}/x` },
      'connect ECONNREFUSED 127.0.0.1:1',
    ],
    ['ClickHouse', 'migrate', { CLICKHOUSE_URL: `http://${unreachable}` }, 'connect ECONNREFUSED 127.0.0.1:1'],
    ['NATS', 'migrate', { NATS_URL: `nats://u:s3cret@${unreachable}` }, 'NATS at 127.0.0.1:1: connection refused'],
    [
      'NATS',
      'serve',
      { NATS_URL: `nats://u:s3cret@${unreachable}`, ROLES: 'api' },
      'NATS at 127.0.0.1:1: connection refused',
    ],
  ])('%s, for tributary %s', async (_name, line, given, reason) => {
    const answer = await tributaryIn(given, ...line.split(' '))
    expect(answer).toMatchObject({ code: 1, stdout: '' })
    const lines = answer.stderr
      .trimEnd()
      .split('\n')
      .filter((part) => !part.startsWith('{'))
    expect(lines).toEqual([`Connection failed: ${reason}. Check that the server runs and its URL is correct.`])
    expect(answer.stderr).not.toContain('s3cret')
  })

  test('a PostgreSQL database that does not exist is reported in one line', async () => {
    const url = Object.assign(new URL(environment.POSTGRES_URL as string), { pathname: '/no_such_database' })
    const answer = await tributaryIn({ POSTGRES_URL: url.href }, 'workspace', 'list')
    const reason = 'database "no_such_database" does not exist'
    expect(answer).toEqual(refusal(`PostgreSQL refused the connection: ${reason}. Correct POSTGRES_URL.`))
  })
})

test('the error for an invalid setting names the setting', async () => {
  const answer = await tributaryIn({ API_PORT: 'x' }, 'workspace', 'list')
  expect(answer).toMatchObject({ code: 1, stdout: '' })
  expect(answer.stderr).toMatch(/^The configuration is not usable:\n- API_PORT is "x": .+\n$/)
})

function tributary(...words: string[]) {
  return tributaryIn({}, ...words)
}

async function tributaryIn(given: Record<string, string>, ...words: string[]) {
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, ...environment, ...given }
  const child = spawn(process.execPath, [main, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 50_000 })
  const code = new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, stdout, stderr }
}

function readAnswer(answer: { code: unknown; stdout: string; stderr: string }): unknown {
  expect(answer).toMatchObject({ code: 0, stderr: '' })
  expect(answer.stdout).toMatch(/^.+\n$/)
  return JSON.parse(answer.stdout)
}

function refusal(message: string) {
  return { code: 1, stdout: '', stderr: `${message}\n` }
}

async function statusWith(key: string): Promise<number> {
  const response = await fetch(`${api}/links`, { headers: { authorization: `Bearer ${key}` } })
  return response.status
}

function newName(): string {
  return `t-${randomUUID().slice(0, 13)}`
}

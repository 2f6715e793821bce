import { request } from 'node:http'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, browser, buildLink, buildWorkspace } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { type Answer, visit } from '../../../test/visit.ts'
import { query } from '../../platform/clickhouse.ts'
import { seal } from '../../platform/seal.ts'
import { openAttempts } from './attempts.ts'

const platform = await openTestPlatform()
const { redirect } = inject('server')
const secret = 'Löwe & Maus=+%'
let workspace: BuiltWorkspace
let keys = 0

beforeAll(async () => {
  workspace = await buildWorkspace(platform)
})

/** Creates a new protected link, so that tests do not use up each other's password attempts. */
async function protectedLink(change = sql`rewrite = false`) {
  const key = `locked-${keys++}`
  const link = await buildLink(platform, workspace, { key, trackConversion: true })
  const sealed = seal(platform.config.ENCRYPTION_KEYS, link.id, secret)
  await sql`UPDATE links SET sealed_password = ${sealed}, ${change} WHERE id = ${link.id}`.execute(platform.db)
  return { id: link.id, key }
}

function send(path: string, body: string, headers: Record<string, string> = {}): Promise<Answer> {
  const type = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(Buffer.byteLength(body)),
  }
  return new Promise((resolve, reject) => {
    const sending = request(`${redirect}${path}`, {
      method: 'POST',
      headers: { host: workspace.domain, 'user-agent': browser, ...type, ...headers },
    })
    sending.on('error', reject).on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
    })
    sending.end(body)
  })
}

const form = (password: string) => new URLSearchParams({ password }).toString()
const open = (path: string) => visit(`${redirect}${path}`, { host: workspace.domain, 'user-agent': browser })

describe('a protected link', () => {
  test('shows a form that asks for the password', async () => {
    const { key } = await protectedLink()
    const answer = await open(`/${key}?password=${encodeURIComponent(secret)}&pw=${encodeURIComponent(secret)}`)
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({ 'cache-control': 'private, no-store', 'x-robots-tag': 'noindex' })
    expect(answer.headers['content-security-policy']).toContain("form-action 'self'")
    expect(answer.headers['set-cookie']).toBeUndefined()
    expect(answer.body).toContain('<label for="password">Password</label>')
    expect(answer.body).not.toContain('example.com')
    expect(answer.body).not.toContain('alert')
  })

  test('opens with the correct password, which is not passed on, and counts as a click', async () => {
    const { id, key } = await protectedLink()
    await open(`/${key}`)
    const answer = await send(`/${key}?a=b&pw=x`, form(secret))
    expect(answer).toMatchObject({ status: 303, body: '' })
    expect(answer.headers.location).toMatch(/^https:\/\/example\.com\/landing\?a=b&trib_id=[\w-]{40}$/)
    expect(answer.headers['set-cookie']).toBeUndefined()
    await eventually(async () => {
      const rows = await query(
        platform.clickhouse,
        `SELECT url, bot FROM click_events WHERE workspace_id = {workspaceId:String} AND link_number = {number:UInt64}`,
        { workspaceId: workspace.id, number: await findNumber(id) },
      )
      expect(rows).toEqual([{ url: 'https://example.com/landing?a=b', bot: '' }])
    })
  })

  test('accepts the longest possible password, in any script', async () => {
    const { id, key } = await protectedLink()
    const sealed = seal(platform.config.ENCRYPTION_KEYS, id, '漢'.repeat(190))
    await sql`UPDATE links SET sealed_password = ${sealed} WHERE id = ${id}`.execute(platform.db)
    expect((await send(`/${key}`, form('漢'.repeat(190)))).status).toBe(303)
  })

  test('accepts the password in any Unicode normalization', async () => {
    const { key } = await protectedLink()
    expect((await send(`/${key}`, form(secret.normalize('NFD')))).status).toBe(303)
  })

  test.each([
    ['another one', form('wrong')],
    ['none', ''],
    ['an empty password', form('')],
    ['another field', 'pw=x'],
    ['another case', form(secret.toUpperCase())],
    ['the beginning', form(secret.slice(0, -1))],
    ['more', form(`${secret} `)],
    ['no form', JSON.stringify({ password: secret })],
    ['an oversized form', `${form(secret)}&x=${'x'.repeat(2_100)}`],
    ['much more', `x=${'x'.repeat(2_000_000)}&${form(secret)}`],
  ])('refuses %s', async (_name, body) => {
    const { key } = await protectedLink()
    const answer = await send(`/${key}`, body)
    expect(answer.status).toBe(403)
    expect(answer.headers.location).toBeUndefined()
    expect(answer.body).toContain('role="alert"')
  })

  test('accepts no password for ten minutes after ten wrong passwords, while another link does', async () => {
    const [{ key }, other] = [await protectedLink(), await protectedLink()]
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(`/${key}`, form('wrong'))))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(403), 429, 429])
    const late = await send(`/${key}`, form(secret))
    expect(late.status).toBe(429)
    expect(Number(late.headers['retry-after'])).toBeGreaterThan(590)
    expect(Number(late.headers['retry-after'])).toBeLessThanOrEqual(600)
    expect(late.body).toContain('Too many wrong passwords. Try again in 10\u00a0min.')
    expect((await send(`/${other.key}`, form(secret))).status).toBe(303)
  })

  test('opens for more than ten visitors with the password', async () => {
    const { key } = await protectedLink()
    for (let visitor = 0; visitor < 15; visitor++) expect((await send(`/${key}`, form(secret))).status).toBe(303)
  })

  test.each<[string, Record<string, string>, number]>([
    ["a browser that names the form's origin", { 'sec-fetch-site': 'same-origin' }, 303],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a page of a sibling domain', { 'sec-fetch-site': 'same-site', origin: 'https://evil.localhost' }, 403],
    ['another site in an older browser', { origin: 'https://evil.example' }, 403],
    ['no site', { origin: 'null' }, 403],
  ])('judges %s', async (_name, headers, status) => {
    const { key } = await protectedLink()
    expect((await send(`/${key}`, form(secret), headers)).status).toBe(status)
  })

  test('accepts its own form from an older browser', async () => {
    const { key } = await protectedLink()
    const own = { origin: `http://${workspace.domain}:1234`, host: `${workspace.domain}:1234` }
    expect((await send(`/${key}`, form(secret), own)).status).toBe(303)
  })

  test('asks for no password after it has expired', async () => {
    const { key } = await protectedLink(sql`expires_at = now()`)
    expect((await open(`/${key}`)).status).toBe(410)
    expect((await send(`/${key}`, form(secret))).status).toBe(410)
  })
})

test('password attempts are counted without Valkey too, per network and not per address', async () => {
  const alone = await openTestPlatform({ VALKEY_URL: 'redis://127.0.0.1:1' })
  const attempts = openAttempts(alone)
  const { id } = await protectedLink()
  const sealed = seal(platform.config.ENCRYPTION_KEYS, id, secret).toString('base64')
  const link = { id, number: '7', sealedPassword: sealed } as Parameters<typeof attempts>[0]
  for (let guess = 0; guess < 10; guess++) {
    expect(await attempts(link, 'wrong', `2001:db8:0:1::${guess}`)).toEqual({ outcome: 'wrong' })
  }
  expect(await attempts(link, secret, '2001:db8:0:1:ffff::1')).toMatchObject({ outcome: 'limited' })
  expect(await attempts(link, secret, '2001:db8:0:2::1')).toEqual({ outcome: 'right' })
  expect(await attempts(link, secret, '203.0.113.9')).toEqual({ outcome: 'right' })
})

async function findNumber(id: string): Promise<bigint> {
  const result = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(platform.db)
  return result.rows[0]?.number ?? 0n
}

import { randomUUID } from 'node:crypto'
import { operations } from '@tributary/contract/index'
import type { Link } from '@tributary/contract/links'
import type { Operation } from '@tributary/contract/operation'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, browser, buildLink, buildWorkspace } from './build.ts'
import { eventually, openTestPlatform } from './stack.ts'
import { visit } from './visit.ts'

/**
 * Every operation is tried with a key of one workspace and everything that names a thing of another one: in the path,
 * in the query and in the body. A new operation joins by itself; a new kind of name needs a line in `foreignNames`.
 */
const platform = await openTestPlatform()
const { api, redirect } = inject('server')
const secret = `secret-${randomUUID()}`

let foreign: BuiltWorkspace
let foreignLink: Link

/** What the other workspace has, under each name that a parameter or a field can have. */
function foreignNames(): Record<string, string> {
  return {
    linkId: foreignLink.id,
    externalId: `ext_${foreignLink.externalId}`,
    domain: foreign.domain,
    key: foreignLink.key,
    search: secret,
    workspaceId: foreign.id,
    url: foreignLink.url,
  }
}

/** These narrow or order what the own workspace has and name nothing. */
const harmless = new Set(
  `event interval start end timezone country city region continent device browser os trigger referer refererUrl
  utm_source utm_medium utm_campaign utm_term utm_content root saleType query qr page limit pageSize sortOrder sortBy order groupBy
  showArchived trackConversion tenantId tagId tagIds folderId partnerTagId groupId partnerId customerId programId`.split(
    /\s+/,
  ),
)

/** A name that the workspace may use for things of its own, whoever else uses it too. */
const ownByRight = new Set(['externalId', 'url', 'key'])

beforeAll(async () => {
  foreign = await buildWorkspace(platform)
  foreignLink = await buildLink(platform, foreign, {
    key: secret,
    url: `https://example.com/${secret}`,
    externalId: secret,
  })
  await visit(`${redirect}/${secret}`, { host: foreign.domain, 'user-agent': browser })
  await eventually(async () => {
    const { body } = await ask(foreign.key, 'get', '/events', {})
    expect(body).toContain(secret)
  })
})

describe.each(operations)('$id', (operation) => {
  test('has only parameters and fields that this test knows', () => {
    const unknown = namesOf(operation).filter((name) => !(name in foreignNames()) && !harmless.has(name))
    expect(unknown).toEqual([])
  })

  test('shows and changes nothing of another workspace', async () => {
    const own = await buildWorkspace(platform)
    const before = await snapshot(foreign.id)
    for (const attempt of attempts(operation)) {
      const { status, body } = await ask(own.key, operation.method, attempt.path, attempt.query, attempt.body)
      const told = `${operation.method} ${attempt.path} ${JSON.stringify([attempt.query, attempt.body])}: ${status} ${body}`
      if (attempt.must404) expect(status, told).toBe(404)
      else expect([200, 201, 202, 404, 409], told).toContain(status)
      if (status < 300 && !attempt.own) expect(body, told).not.toContain(secret)
      expect(body, told).not.toContain(foreignLink.id)
      expect(body, told).not.toContain(foreign.id)
    }
    expect(await snapshot(foreign.id)).toEqual(before)
  })
})

type Attempt = { path: string; query: Record<string, string>; body?: object; must404: boolean; own: boolean }

function attempts(operation: Operation): Attempt[] {
  const names = foreignNames()
  const fields = fieldsOf(operation)
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name] ?? 'unknown')
  const inPath = operation.path.includes('{')
  const base = fields.length > 0 ? { url: 'https://example.com/' } : undefined
  const plain = { path, query: {}, body: base, must404: inPath, own: false }
  const inQuery = Object.keys(operation.query.shape)
    .filter((name) => name in names)
    .map((name) => {
      const pair =
        name === 'key' ? { domain: foreign.domain, key: names.key as string } : { [name]: names[name] as string }
      return { ...plain, query: pair, must404: inPath || ['key', 'externalId'].includes(name) }
    })
  const inBody = fields
    .filter((name) => name in names)
    .map((name) => ({
      ...plain,
      body: { ...base, [name]: names[name] },
      must404: inPath || !ownByRight.has(name),
      own: ownByRight.has(name),
    }))
  return [plain, ...inQuery, ...inBody]
}

function namesOf(operation: Operation): string[] {
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string)
  return [...inPath, ...Object.keys(operation.query.shape), ...fieldsOf(operation)]
}

function fieldsOf(operation: Operation): string[] {
  return 'shape' in operation.body ? Object.keys(operation.body.shape as object) : []
}

async function ask(key: string, method: string, path: string, query: Record<string, string>, body?: object) {
  const response = await fetch(`${api}${path}?${new URLSearchParams(query)}`, {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  return { status: response.status, body: await response.text() }
}

/** Every row of that workspace in every table. */
async function snapshot(workspaceId: string): Promise<Record<string, unknown[]>> {
  const tables = await sql<{ table_name: string }>`SELECT table_name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'workspace_id' AND table_name <> 'outbox'
    ORDER BY table_name`.execute(platform.db)
  const rows: Record<string, unknown[]> = {}
  for (const { table_name } of tables.rows) {
    const found =
      await sql`SELECT * FROM ${sql.table(table_name)} WHERE workspace_id = ${workspaceId} ORDER BY 1`.execute(
        platform.db,
      )
    rows[table_name] = found.rows
  }
  return rows
}

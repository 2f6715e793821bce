import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Document, findChanges, findUnannounced } from './breaking.ts'
import type { Schema } from './breaking-schema.ts'

const text: Schema = { type: 'string' }
const link: Schema = { type: 'object', properties: { id: text, domain: text }, required: ['id'] }

/** Builds an OpenAPI document with one operation. */
function document({ query = {}, required = [], body, response = link, ...others }: Parts = {}): Document {
  const parameters = Object.entries(query).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
  const requestBody = body && { required: true, content: { 'application/json': { schema: body } } }
  const responses = { 200: { content: { 'application/json': { schema: response } } }, ...others.statuses }
  const operation = { operationId: 'createLink', parameters, requestBody, responses }
  return { paths: { '/links': { post: operation } }, components: { schemas: others.schemas ?? {} } }
}
type Parts = {
  query?: Record<string, Schema>
  required?: string[]
  body?: Schema
  response?: Schema
  statuses?: Record<string, object>
  schemas?: Record<string, Schema>
}

function changes(before: Document, after: Document): string[] {
  return findChanges(before, after).map(({ where, what, breaks }) =>
    `${breaks ? '' : 'warning: '}${where} ${what}`.trim(),
  )
}

test('the same document has no change', () => {
  const current = JSON.parse(readFileSync(join(import.meta.dirname, '../contract/openapi.json'), 'utf8')) as Document
  expect(Object.keys(current.paths ?? {}).length).toBeGreaterThan(20)
  expect(changes(current, current)).toEqual([])
})

describe('operations', () => {
  test('a removed path or method breaks', () => {
    expect(changes(document(), { paths: {} })).toEqual(['is removed'])
    expect(changes(document(), { paths: { '/links': { get: {} } } })).toEqual(['is removed'])
  })

  test('a new operation does not break', () => {
    expect(changes({ paths: {} }, document())).toEqual([])
  })

  test('a removed status or media type breaks, a new one does not', () => {
    const conflict = document({ statuses: { 409: {} } })
    expect(changes(conflict, document())).toEqual(['response 409 is removed'])
    expect(changes(document(), conflict)).toEqual([])
    const csv: Document = { paths: { '/links': { post: { responses: { 200: { content: { 'text/csv': {} } } } } } } }
    expect(changes(document(), csv)).toEqual(['response 200 no longer has the type application/json'])
  })
})

const object = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
})
const buildList = (items: Schema): Schema => ({ type: 'array', items })
const nullable = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] })

test('the parameters of a path may get other names', () => {
  const named = (name: string, schema: Schema): Document => ({
    paths: { [`/links/{${name}}`]: { get: { parameters: [{ name, in: 'path', required: true, schema }] } } },
  })
  expect(changes(named('id', text), named('linkId', text))).toEqual([])
  expect(changes(named('id', text), named('linkId', { type: 'number' }))).toEqual([
    'path parameter id changes its type from string to number',
  ])
})

describe('responses', () => {
  test.each<[string, Schema, Schema, string[]]>([
    ['a removed field', link, object({ id: text }, ['id']), ['domain is removed']],
    ['a new field', object({ id: text }), link, []],
    ['a field that can be missing', link, object({ id: text, domain: text }), ['id can now be missing']],
    ['a field that is always there', object({ id: text }), object({ id: text }, ['id']), []],
    [
      'another type',
      object({ id: text }),
      object({ id: { type: 'number' } }),
      ['id changes its type from string to number'],
    ],
    ['a number that becomes an integer', object({ n: { type: 'number' } }), object({ n: { type: 'integer' } }), []],
    ['a value that can be null', object({ id: text }), object({ id: nullable(text) }), ['id can now be null']],
    ['null as a type', object({ id: text }), object({ id: { type: ['string', 'null'] } }), ['id can now be null']],
    ['a value that is never null again', object({ id: nullable(text) }), object({ id: text }), []],
    ['two ways to say nullable', nullable(text), { type: ['string', 'null'] }, []],
    ['a new value of an enum', { enum: ['a'] }, { enum: ['a', 'b'] }, ['warning: can now be "b"']],
    ['a removed value of an enum', { enum: ['a', 'b'] }, { enum: ['a'] }, []],
    ['a field below a list', buildList(link), buildList(object({ id: text }, ['id'])), ['[].domain is removed']],
    [
      'a field below a nullable object',
      object({ link: nullable(link) }),
      object({ link: nullable(object({ id: text }, ['id'])) }),
      ['link.domain is removed'],
    ],
    ['a variant more', { oneOf: [text] }, { oneOf: [text, link] }, ['can now be object with id, domain']],
    ['a variant less', { oneOf: [text, link] }, { oneOf: [text] }, []],
    ['tighter limits', { type: 'string', maxLength: 9 }, { type: 'string', maxLength: 5 }, []],
    ['fields of allOf', { allOf: [object({ a: text }), object({ b: text })] }, object({ a: text }), ['b is removed']],
  ])('%s', (_, before, after, expected) => {
    const where = (line: string) => line.replace(/^(warning: )?/, '$1response 200 ')
    expect(changes(document({ response: before }), document({ response: after }))).toEqual(expected.map(where))
  })
})

describe('requests', () => {
  test.each<[string, Schema, Schema, string[]]>([
    [
      'a new required field',
      object({ url: text }),
      object({ url: text, key: text }, ['key']),
      ['key is new and required'],
    ],
    ['a new optional field', object({ url: text }), object({ url: text, key: text }), []],
    ['a field that becomes required', object({ url: text }), object({ url: text }, ['url']), ['url is now required']],
    ['a field that becomes optional', object({ url: text }, ['url']), object({ url: text }), []],
    ['a removed field', object({ url: text, key: text }), object({ url: text }), ['key is removed']],
    ['a removed value of an enum', { enum: ['a', 'b'] }, { enum: ['a'] }, ['no longer accepts "b"']],
    ['a new value of an enum', { enum: ['a'] }, { enum: ['a', 'b'] }, []],
    ['an enum instead of any text', text, { type: 'string', enum: ['a'] }, ['accepts only "a" now']],
    ['another type', text, { type: 'number' }, ['changes its type from string to number']],
    ['a type more', text, { type: ['string', 'number'] }, []],
    ['a type less', { type: ['string', 'null'] }, text, ['no longer accepts null']],
    [
      'a lower maximum',
      { type: 'string', maxLength: 9 },
      { type: 'string', maxLength: 5 },
      ['changes its maxLength from 9 to 5'],
    ],
    ['a new minimum', { type: 'number' }, { type: 'number', minimum: 1 }, ['changes its minimum from none to 1']],
    ['a wider limit', { type: 'number', maximum: 5 }, { type: 'number', maximum: 9 }, []],
    ['a new pattern', text, { type: 'string', pattern: '^a' }, ['changes its pattern from none to ^a']],
    [
      'closed to other fields',
      { ...object({}), additionalProperties: true },
      { ...object({}), additionalProperties: false },
      ['no longer accepts other fields'],
    ],
  ])('%s', (_, before, after, expected) => {
    const lines = expected.map((line) => `request body ${line}`)
    expect(changes(document({ body: before }), document({ body: after }))).toEqual(lines)
  })

  test.each<[string, Parts, Parts, string[]]>([
    ['a removed parameter', { query: { page: text } }, {}, ['query parameter page is removed']],
    ['a new optional parameter', {}, { query: { page: text } }, []],
    [
      'a new required parameter',
      {},
      { query: { page: text }, required: ['page'] },
      ['query parameter page is new and required'],
    ],
    [
      'a parameter that becomes required',
      { query: { page: text } },
      { query: { page: text }, required: ['page'] },
      ['query parameter page is now required'],
    ],
    ['a body where there was none', {}, { body: link }, ['request body is new and required']],
    ['no body any more', { body: link }, {}, ['request body is removed']],
  ])('%s', (_, before, after, expected) => {
    expect(changes(document(before), document(after))).toEqual(expected)
  })
})

test('references are followed, and a schema may contain itself', () => {
  const ref = { $ref: '#/components/schemas/Node' }
  const node = (leaf: Schema) => ({ Node: object({ leaf, children: buildList(ref) }) })
  const before = document({ response: ref, schemas: node(text) })
  expect(changes(before, before)).toEqual([])
  const after = document({ response: ref, schemas: node({ type: 'number' }) })
  expect(changes(before, after)).toEqual(['response 200 leaf changes its type from string to number'])
})

test('the payload of a webhook is read by the client', () => {
  const webhook = (schema: Schema): Document => ({
    webhooks: { 'link.created': { post: { requestBody: { content: { 'application/json': { schema } } } } } },
  })
  expect(changes(webhook(link), webhook(object({ id: text }, ['id'])))).toEqual(['payload domain is removed'])
  expect(changes(webhook(object({ id: text })), webhook(link))).toEqual([])
  expect(changes(webhook(link), {})).toEqual(['is removed'])
})

test.each([
  ['no line', [], false],
  ['a line about something else', ['- Breaking: GET /links/{id} has no `domain`.'], false],
  ['the word inside of a sentence', ['- This is not Breaking: POST /links.'], false],
  ['the method and path', ['- Breaking: `POST /links` is gone; use PUT.'], true],
  ['the operation id', ['- Breaking: createLink is gone.'], true],
  ['a longer name', ['- Breaking: createLinkNow is gone.'], false],
])('a breaking change is announced by %s: %j', (_, lines, isAnnounced) => {
  const found = findChanges(document(), { paths: {} })
  expect(findUnannounced(found, lines)).toHaveLength(isAnnounced ? 0 : 1)
})

test('the check compares with the last tag, and fails until the changelog announces the change', () => {
  const folder = mkdtempSync(join(tmpdir(), 'breaking-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_GLOBAL: '/dev/null' }
  const run = (command: string, ...words: string[]) => spawnSync(command, words, { cwd: folder, encoding: 'utf8', env })
  const check = () => run(process.execPath, join(import.meta.dirname, 'breaking.ts'))
  const write = (path: string, content: string) => writeFileSync(join(folder, path), content)
  const changelog = (line: string) => write('CHANGELOG.md', `# Changelog\n\n## Unreleased\n\n${line}\n\n## 0.1.0\n`)

  mkdirSync(join(folder, 'contract'))
  write('contract/openapi.json', JSON.stringify(document()))
  changelog('')
  run('git', 'init', '--quiet')
  expect(check()).toMatchObject({ status: 0, stdout: 'no release to compare contract/openapi.json with\n' })

  run('git', 'add', '.')
  run('git', '-c', 'user.name=Test', '-c', 'user.email=test@example.com', 'commit', '--quiet', '-m', 'first')
  run('git', 'tag', 'v0.1.0')
  expect(check()).toMatchObject({ status: 0, stdout: 'no unannounced breaking change since v0.1.0\n' })

  write('contract/openapi.json', JSON.stringify(document({ response: object({ id: text }, ['id']) })))
  const { status, stdout } = check()
  expect(stdout).toContain('Breaking: POST /links response 200 domain: is removed\n')
  expect(stdout).toContain('CHANGELOG.md: - Breaking: POST /links …')
  expect(status).toBe(1)

  changelog('- Breaking: `POST /links` answers without `domain`; read `shortLink`.')
  expect(check().status).toBe(0)
})

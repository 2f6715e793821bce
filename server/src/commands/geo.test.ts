import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest'
import { mmdb } from '../../test/mmdb.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'geo-command-'))
const file = join(folder, 'places.mmdb')
const germany = { '203.0.113.0/24': { country: { iso_code: 'DE' }, continent: { code: 'EU' } } }
const oakland = { country: { iso_code: 'US' }, city: { names: { en: 'Oakland' } }, subdivisions: [{ iso_code: 'CA' }] }
const content = mmdb({ ...germany, '2001:db8::/32': oakland })

let files: Record<string, Buffer>
const server = createServer((request, response) => {
  const found = files[request.url ?? '']
  response.writeHead(found ? 200 : 404).end(found)
})
let url: string

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
beforeEach(() => {
  files = {}
  writeFileSync(file, content)
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

test.each([
  ['203.0.113.9', `203.0.113.9: DE, EU (${file})\n`, 0],
  ['2001:db8::1', `2001:db8::1: Oakland, US-CA (${file})\n`, 0],
  ['198.51.100.1', `198.51.100.1: not in ${file}\n`, 1],
])('`geo lookup %s` prints the location', async (ip, stdout, code) => {
  expect(await tributary('lookup', ip)).toEqual({ code, stdout, stderr: '' })
})

test('`geo lookup --json` prints the location as JSON', async () => {
  const location = { country: 'DE', region: '', city: '', continent: 'EU', source: 'GEO_DATABASE' }
  expect(JSON.parse((await tributary('lookup', '203.0.113.9', '--json')).stdout)).toEqual(location)
})

test('without GEO_DATABASE, lookup uses the built-in countries, and update names the missing setting', async () => {
  const none = { GEO_DATABASE: '' }
  const [known, json, unknown, update] = await Promise.all([
    run(none, 'lookup', '8.8.8.8'),
    run(none, 'lookup', '193.99.144.80', '--json'),
    run(none, 'lookup', '203.0.113.9'),
    run(none, 'update'),
  ])
  expect(known).toEqual({ code: 0, stdout: '8.8.8.8: US, NA (the built-in countries)\n', stderr: '' })
  const location = { country: 'DE', region: '', city: '', continent: 'EU', source: 'built-in' }
  expect(JSON.parse(json.stdout)).toEqual(location)
  expect(unknown).toEqual({ code: 1, stdout: '203.0.113.9: not in the built-in countries\n', stderr: '' })
  expect(update).toMatchObject({ code: 1, stderr: expect.stringMatching(/^GEO_DATABASE is not set\./) })
})

test('`geo update` downloads the database of this month, or of the previous one', async () => {
  rmSync(file)
  const [current, previous] = [month(0), month(-1)]
  files[`/${previous}.mmdb.gz`] = gzipSync(content)
  const before = await tributary('update')
  expect(before).toEqual({ code: 0, stdout: `Updated ${file} from ${url}/${previous}.mmdb.gz.\n`, stderr: '' })
  expect(readFileSync(file).equals(content)).toBe(true)

  const next = mmdb(germany)
  files[`/${current}.mmdb.gz`] = gzipSync(next)
  expect(JSON.parse((await tributary('update', '--json')).stdout)).toEqual({ file, url: `${url}/${current}.mmdb.gz` })
  expect(readFileSync(file).equals(next)).toBe(true)
})

test.each<[string, Buffer | undefined, RegExp]>([
  ['nothing', undefined, /was not updated: .+\.mmdb\.gz returned 404, .+\.mmdb\.gz returned 404\.$/m],
  ['an invalid database', gzipSync('hello'), /was not updated: it is not a complete MMDB file/],
  ['half a file', gzipSync(content).subarray(0, 100), /was not updated: unexpected end of file/],
])('`geo update` keeps the old file when the server has %s', async (_name, found, message) => {
  if (found) files[`/${month(0)}.mmdb.gz`] = found
  const { code, stderr } = await tributary('update')
  expect(code).toBe(1)
  expect(stderr).toMatch(message)
  expect(readFileSync(file).equals(content)).toBe(true)
  expect(readdirSync(folder)).toEqual(['places.mmdb'])
})

function month(offset: number): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset)).toISOString().slice(0, 7)
}

function tributary(...words: string[]) {
  return run({ GEO_DATABASE: file, GEO_DATABASE_URL: `${url}/{month}.mmdb.gz` }, ...words)
}

async function run(settings: Record<string, string>, ...words: string[]) {
  const env = { PATH: process.env.PATH, ...inject('environment'), ...settings }
  const child = spawn(process.execPath, [main, 'geo', ...words], { stdio: ['ignore', 'pipe', 'pipe'], env })
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  return { code, stdout, stderr }
}

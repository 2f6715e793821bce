import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { buildWorkspace } from '../../test/build.ts'
import { startServer } from '../../test/server-process.ts'
import { openTestPlatform } from '../../test/stack.ts'

const platform = await openTestPlatform()
const { key } = await buildWorkspace(platform)
const authorization = `Bearer ${key}`
const folder = await mkdtemp(join(tmpdir(), 'tributary-tls-'))
const pair = await selfSignedPair(folder)

const production = {
  ...inject('environment'),
  ENVIRONMENT: 'production',
  ROLES: 'api',
  API_URL: 'http://api.example.com',
}
const [plain, proxied, encrypted] = await Promise.all([
  startServer({ ...production, TRUSTED_PROXIES: '10.0.0.0/8' }),
  startServer({ ...production, TRUSTED_PROXIES: '127.0.0.1' }),
  startServer({ ...production, ...pair }),
])
afterAll(async () => {
  await Promise.all([plain, proxied, encrypted].map((server) => server.stop()))
  await rm(folder, { recursive: true })
})

const refusal = {
  error: {
    code: 'forbidden',
    message: 'Unencrypted HTTP is not supported. Use https://api.example.com.',
    doc_url: 'http://api.example.com/docs/errors/forbidden',
  },
}

describe('in production, plain HTTP', () => {
  test.each([
    ['GET', '/links'],
    ['POST', '/links'],
    ['GET', '/events'],
    ['GET', '/nothing'],
    ['GET', '/docs'],
    ['GET', '/openapi.json'],
  ])('%s %s is rejected, even with a valid key', async (method, path) => {
    const response = await fetch(plain.api + path, { method, headers: { authorization } })
    expect([response.status, await response.json()]).toEqual([403, refusal])
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('is rejected from an untrusted client that claims HTTPS', async () => {
    const headers = { authorization, 'x-forwarded-proto': 'https', 'x-forwarded-for': '10.0.0.1' }
    const response = await fetch(`${plain.api}/links`, { headers })
    expect([response.status, await response.json()]).toEqual([403, refusal])
  })

  test('does not count against the rate limit', async () => {
    const response = await fetch(`${plain.api}/links`, { headers: { authorization } })
    expect(response.headers.has('x-ratelimit-remaining')).toBe(false)
  })

  test('still serves health checks of a load balancer', async () => {
    const statuses = await Promise.all(
      ['/healthz', '/readyz'].map(async (path) => (await fetch(plain.api + path)).status),
    )
    expect(statuses).toEqual([200, 200])
  })
})

describe('behind a trusted proxy', () => {
  test.each([
    ['https', 200],
    ['http', 403],
    ['', 403],
    ['https, http', 403],
  ])('a request with X-Forwarded-Proto %j gets %d', async (protocol, status) => {
    const headers = { authorization, 'x-forwarded-proto': protocol, 'x-forwarded-for': '203.0.113.9' }
    const response = await fetch(`${proxied.api}/links`, { headers })
    expect(response.status).toBe(status)
  })
})

describe('with a certificate of its own', () => {
  test('the server speaks HTTPS', async () => {
    const answer = await callEncrypted('/links', { authorization })
    expect(answer).toEqual({ status: 200, body: [] })
    const unknown = await callEncrypted('/links', {})
    expect(unknown.status).toBe(401)
  })

  test('the server does not speak plain HTTP on that port', async () => {
    await expect(fetch(`${encrypted.api}/links`, { headers: { authorization } })).rejects.toThrow()
  })
})

async function callEncrypted(path: string, headers: Record<string, string>) {
  const ca = await readFile(pair.TLS_CERT)
  return new Promise<{ status?: number; body: unknown }>((resolve, reject) => {
    const { port } = new URL(encrypted.api)
    request({ host: 'localhost', family: 4, port, path, headers, ca, agent: false }, (response) => {
      json(response).then((body) => resolve({ status: response.statusCode, body }), reject)
    })
      .on('error', reject)
      .end()
  })
}

async function selfSignedPair(directory: string) {
  const files = { TLS_CERT: join(directory, 'cert.pem'), TLS_KEY: join(directory, 'key.pem') }
  const identity = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '1', '-nodes']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  await promisify(execFile)('openssl', [
    'req',
    '-x509',
    ...kind,
    ...identity,
    '-keyout',
    files.TLS_KEY,
    '-out',
    files.TLS_CERT,
  ])
  return files
}

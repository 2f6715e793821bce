import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { discFile } from '../../../test/scan.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { getMetatags, getPreviewImage } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const nothing = { title: null, description: null, image: null }
const png = discFile(8)
let visits = 0
const { promise: slowly, resolve: answerSlow } = Promise.withResolvers<void>()

const site = createServer((request, response) => {
  visits += 1
  if (request.url?.startsWith('/slow'))
    return void slowly.then(() => response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Slow</title>'))
  if (request.url === '/moved') return response.writeHead(302, { location: '/page' }).end()
  if (request.url === '/loop') return response.writeHead(302, { location: '/loop' }).end()
  if (request.url === '/inside') return response.writeHead(302, { location: 'http://10.0.0.1/' }).end()
  if (request.url === '/to-image') return response.writeHead(302, { location: '/image' }).end()
  if (request.url === '/image') return response.writeHead(200, { 'content-type': 'text/plain' }).end(png)
  if (request.url === '/drawing') return response.writeHead(200, { 'content-type': 'image/svg+xml' }).end('<svg/>')
  if (request.url === '/large') return response.writeHead(200).end(Buffer.concat([png, Buffer.alloc(1_100_000)]))
  if (request.url === '/broken') return response.writeHead(500).end('<title>Failure</title>')
  response.writeHead(200, { 'content-type': 'text/html' })
  response.end(`<title>A page</title><meta name="description" content="d">${' '.repeat(1_000_000)}`)
})
beforeAll(() => new Promise<void>((resolve) => site.listen(0, '127.0.0.1', () => resolve())))
afterAll(() => new Promise<void>((resolve) => site.close(() => resolve())))

/** Calls getMetatags with outbound access to the test site only. */
function read(path: string, workspaceId = 'ws_1') {
  const { port } = site.address() as AddressInfo
  return getMetatags({ config: allowing(port), workspaceId }, `http://127.0.0.1:${port}${path}`)
}
const configs = new Map<number, typeof platform.config>()
function allowing(port: number) {
  const config = configs.get(port) ?? {
    ...platform.config,
    OUTBOUND_ALLOWED_PORTS: [[port, port] as [number, number]],
    OUTBOUND_ALLOWED_HOSTS: { names: [], ranges: ['127.0.0.1'] },
  }
  configs.set(port, config)
  return config
}

async function ask(query: string, key: string, path = '/metatags') {
  const response = await fetch(`${api}${path}?${query}`, { headers: { authorization: `Bearer ${key}` } })
  return { status: response.status, body: (await response.json()) as unknown }
}

describe('getMetatags', () => {
  it('200: returns title, description and image of a page, which is fetched once in ten minutes', async () => {
    const page = { title: 'A page', description: 'd', image: null }
    const before = visits
    expect(await Promise.all([read('/page'), read('/page')])).toEqual([page, page])
    expect(await read('/page')).toEqual(page)
    expect(visits - before).toBe(1)
    expect(await read('/moved')).toEqual(page)
  })

  it('200: returns null for a page that fails, redirects endlessly or redirects to a private address', async () => {
    for (const path of ['/broken', '/loop', '/inside']) expect(await read(path), path).toEqual(nothing)
  })

  it('429: a workspace waits for its own slow pages, and no other workspace does', async () => {
    const slow = Array.from({ length: 6 }, (_, n) => read(`/slow?${n}`, 'ws_slow'))
    await expect(read('/slow?6', 'ws_slow')).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
    expect((await read('/page?other', 'ws_other')).title).toBe('A page')
    answerSlow()
    expect((await Promise.all(slow)).map(({ title }) => title)).toEqual(slow.map(() => 'Slow'))
    expect((await read('/slow?7', 'ws_slow')).title).toBe('Slow')
  })

  it('200: returns null for a private address, without an error message', async () => {
    const { key } = await buildWorkspace(platform)
    for (const url of ['http://127.0.0.1:1/', 'http://169.254.169.254/latest', 'http://[::1]/', 'http://localhost/']) {
      expect(await ask(`url=${encodeURIComponent(url)}`, key), url).toEqual({ status: 200, body: nothing })
    }
  })

  it('400, 422: refuses a missing URL, or one that is not http(s)', async () => {
    const { key } = await buildWorkspace(platform)
    expect((await ask('', key)).status).toBe(400)
    for (const url of ['nope', 'file:///etc/passwd', 'javascript:1', `https://a.example/${'x'.repeat(2_000)}`]) {
      expect((await ask(`url=${encodeURIComponent(url)}`, key)).status, url).toBe(422)
    }
  })
})

describe('getPreviewImage', () => {
  function readImage(path: string) {
    const { port } = site.address() as AddressInfo
    return getPreviewImage({ config: allowing(port), workspaceId: 'ws_1' }, `http://127.0.0.1:${port}${path}`)
  }

  it('200: returns an image as a data URL, whatever type the server says', async () => {
    const image = `data:image/png;base64,${png.toString('base64')}`
    for (const path of ['/image', '/to-image']) expect(await readImage(path), path).toEqual({ image })
  })

  it('200: returns null for an SVG, a page, a large file, a failure and a private address', async () => {
    for (const path of ['/drawing', '/page', '/large', '/broken', '/loop', '/inside']) {
      expect(await readImage(path), path).toEqual({ image: null })
    }
    const { key } = await buildWorkspace(platform)
    const url = encodeURIComponent('http://169.254.169.254/a.png')
    expect(await ask(`url=${url}`, key, '/metatags/image')).toEqual({ status: 200, body: { image: null } })
  })

  it('422: refuses what is not http(s)', async () => {
    const { key } = await buildWorkspace(platform)
    for (const url of ['nope', 'data:image/png;base64,AAAA']) {
      expect((await ask(`url=${encodeURIComponent(url)}`, key, '/metatags/image')).status, url).toBe(422)
    }
  })
})

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openTestPlatform } from '../../../test/stack.ts'
import { type Icon, openIcons } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const png = Buffer.from('89504e470d0a1a0a0000', 'hex')
const ico = Buffer.from('000001000100', 'hex')

type Page = { status?: number; type?: string; body?: string | Buffer; location?: string }
let pages: Record<string, Page> = {}
const visited: string[] = []
const site = createServer((request, response) => {
  visited.push(request.url ?? '')
  const page = pages[request.url ?? '']
  if (!page) return response.writeHead(404, { 'content-type': 'text/html' }).end('nothing here')
  const headers = { 'content-type': page.type ?? 'text/html', ...(page.location && { location: page.location }) }
  response.writeHead(page.status ?? (page.location ? 302 : 200), headers).end(page.body)
})
beforeAll(() => new Promise<void>((resolve) => site.listen(0, '127.0.0.1', () => resolve())))
afterAll(() => new Promise<void>((resolve) => site.close(() => resolve())))

/** Icons of the test site, which the outbound client may call; each call has an empty cache. */
function open(given: Record<string, Page>) {
  pages = given
  visited.length = 0
  const { port } = site.address() as AddressInfo
  const config = {
    ...platform.config,
    OUTBOUND_ALLOWED_PORTS: [[port, port] as [number, number]],
    OUTBOUND_ALLOWED_HOSTS: { names: [], ranges: ['127.0.0.1'] },
  }
  const icons = openIcons(config)
  return { find: (host = `127.0.0.1:${port}`) => icons.find(host, 'visitor'), port }
}

const isDefault = ({ type, maxAgeSeconds }: Icon) => type === 'image/svg+xml' && maxAgeSeconds === 600

describe('icons of a site', () => {
  it('the icon that the page names is fetched once', async () => {
    const { find } = open({
      '/': { body: '<link rel="icon" href="/i.png">' },
      '/i.png': { type: 'text/plain', body: png },
    })
    const [icon] = await Promise.all([find(), find()])
    expect(icon).toMatchObject({ type: 'image/png', bytes: png, maxAgeSeconds: 86_400 })
    await find()
    expect(visited).toEqual(['/', '/i.png'])
  })

  it('/favicon.ico follows when the page names none, or one that is not an image', async () => {
    const favicon = { type: 'image/x-icon', body: ico }
    expect(await open({ '/favicon.ico': favicon }).find()).toMatchObject({ type: 'image/x-icon', bytes: ico })
    const named = {
      '/': { body: '<link rel="icon" href="/i.png">' },
      '/i.png': { type: 'image/png', body: '<script>' },
    }
    expect(await open({ ...named, '/favicon.ico': favicon }).find()).toMatchObject({ type: 'image/x-icon' })
  })

  it('redirects are followed, but not to private addresses', async () => {
    const moved = {
      '/': { location: '/home' },
      '/home': { body: '<link rel="icon" href="/i.png">' },
      '/i.png': { body: png },
    }
    expect(await open(moved).find()).toMatchObject({ type: 'image/png' })
    expect(isDefault(await open({ '/': { location: 'http://10.0.0.1/' } }).find())).toBe(true)
    const inside = { '/': { body: '<link rel="icon" href="http://10.0.0.1/i.png">' } }
    expect(isDefault(await open(inside).find())).toBe(true)
  })

  it('SVG, HTML and files over 128 kB are never served, and the default icon is cached', async () => {
    const svg = { type: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>' }
    const { find } = open({ '/favicon.ico': svg })
    expect(isDefault(await find())).toBe(true)
    const visits = visited.length
    await find()
    expect(visited).toHaveLength(visits)
    const large = { '/favicon.ico': { body: Buffer.concat([png, Buffer.alloc(131_072)]) } }
    expect(isDefault(await open(large).find())).toBe(true)
  })

  it('a host that is private, unknown or down has the default icon', async () => {
    const { find } = open({})
    for (const host of ['10.0.0.1', '[::1]', '169.254.169.254', '127.0.0.1:1'])
      expect(isDefault(await find(host))).toBe(true)
  })
})

describe('getIcon', () => {
  it('200: an image that browsers never run, and 304 for the same one', async () => {
    const response = await fetch(`${api}/icons?host=127.0.0.1`)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=600',
    })
    const etag = response.headers.get('etag') ?? ''
    const again = await fetch(`${api}/icons?host=127.0.0.1`, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
  })

  it.each(['', 'http%3A%2F%2Fexample.com', 'a%2Fb', 'user%40example.com', 'a%20b', '%00', `${'a'.repeat(300)}`])(
    '400 or 422: the host "%s"',
    async (host) => {
      expect([400, 422]).toContain((await fetch(`${api}/icons?host=${host}`)).status)
    },
  )
})

import { randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@tributary/contract/client'
import { createInstallCheck as create, getInstallCheck as get } from '@tributary/contract/install-checks'
import { listSetupSteps } from '@tributary/contract/setup-steps'
import { sql } from 'kysely'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { allowLoopback } from '../../../test/webhooks.ts'
import { changeWorkspace } from '../workspaces/service.ts'
import { createInstallCheck, getInstallCheck, reportInstall } from './service.ts'

const { api } = inject('server')
const platform = await openTestPlatform({ ...allowLoopback, API_URL: 'https://api.example' })
const site = await serveSite({
  '/': (response) => response.end('<script src="https://api.example/tracker.js"></script>'),
  '/moved': (response) => response.writeHead(302, { location: '/' }).end(),
  '/slow': () => {},
})

async function serveSite(pages: Record<string, (response: ServerResponse) => void>): Promise<string> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html')
    const page = pages[request.url?.split('?')[0] ?? '']
    if (page) page(response)
    else response.writeHead(404).end('nothing here')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => server.closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Reports as the script of a page would. */
async function report(check: string, body: object = {}, page = 'https://www.shop.example/pricing') {
  const response = await fetch(`${api}/install-checks/reports`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain', origin: new URL(page).origin, referer: page },
    body: JSON.stringify({ check, path: '/pricing', version: '0.1.0', ...body }),
  })
  return [response.status, await response.json()]
}

async function build() {
  const workspace = await buildWorkspace(platform)
  return { workspace, call: createClient({ url: api, token: workspace.key }), ctx: contextIn(platform, workspace.id) }
}

describe('createInstallCheck', () => {
  test('201: a page that the server can’t read waits for its report', async () => {
    const { call } = await build()
    const check = await call(create, { body: { url: 'https://localhost/pricing?a=b#top' } })
    expect(check).toMatchObject({
      url: 'https://localhost/pricing?a=b#top',
      checkUrl: `https://localhost/pricing?a=b&trib_check=${check.id}#top`,
      state: 'waiting',
      page: { url: 'https://localhost/pricing?a=b#top', status: null, tag: null, scriptUrl: null, blockedBy: null },
      report: null,
    })
    expect(await call(get, { params: { id: check.id } })).toEqual(check)
  })

  test('the page is read, also behind a redirect, and its status is told', async () => {
    const { ctx } = await build()
    const found = { url: `${site}/`, status: 200, tag: 'found', scriptUrl: 'https://api.example/tracker.js' }
    expect((await createInstallCheck(ctx, `${site}/moved`)).page).toEqual({ ...found, blockedBy: null })
    expect((await createInstallCheck(ctx, `${site}/none`)).page).toMatchObject({ status: 404, tag: null })
    expect((await createInstallCheck(ctx, `${site}/slow`)).page).toMatchObject({ status: null, tag: null })
  })

  test('422: only http and https', async () => {
    const { call } = await build()
    for (const url of ['shop.example', 'ftp://shop.example/', 'javascript:alert(1)'])
      await expect(call(create, { body: { url } })).rejects.toMatchObject({ status: 422 })
    await expect(call(create, { body: {} as never })).rejects.toMatchObject({ status: 400 })
  })

  test('a workspace has at most 20 checks', async () => {
    const { ctx, workspace } = await build()
    const ids: string[] = []
    for (let index = 0; index < 22; index += 1) ids.push((await createInstallCheck(ctx, `${site}/`)).id)
    const rows = await sql<{ id: string }>`SELECT id FROM install_checks WHERE workspace_id = ${workspace.id}
      ORDER BY created_at`.execute(platform.db)
    expect(rows.rows.map(({ id }) => id)).toEqual(ids.slice(2))
  })

  test('429: a workspace reads four pages at once, and others go on meanwhile', async () => {
    const [one, other] = [await build(), await build()]
    const slow = Array.from({ length: 4 }, (_, index) => createInstallCheck(one.ctx, `${site}/slow?${index}`))
    await expect(createInstallCheck(one.ctx, `${site}/`)).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
    expect((await createInstallCheck(other.ctx, `${site}/`)).page).toMatchObject({ status: 200 })
    await Promise.all(slow)
    expect((await createInstallCheck(one.ctx, `${site}/`)).page).toMatchObject({ status: 200 })
  })
})

test('a workspace gets its turn while others fill the server with slow pages, and these get only one more', async () => {
  const others = await Promise.all(Array.from({ length: 5 }, build))
  const slow = others.flatMap(({ ctx }, index) =>
    Array.from({ length: 4 }, (_, page) => createInstallCheck(ctx, `${site}/slow?${index}-${page}`)),
  )
  const { ctx } = await build()
  const mine = createInstallCheck(ctx, `${site}/slow?mine`)
  await expect(createInstallCheck(ctx, `${site}/`)).rejects.toThrow('one page at a time')
  expect((await createInstallCheck((await build()).ctx, `${site}/`)).page).toMatchObject({ status: 200 })
  await Promise.all([mine, ...slow])
  expect((await createInstallCheck(ctx, `${site}/`)).page).toMatchObject({ status: 200 })
})

describe('getInstallCheck', () => {
  test('404: a check of another workspace', async () => {
    const [one, other] = [await build(), await build()]
    const { id } = await createInstallCheck(one.ctx, `${site}/`)
    await expect(other.call(get, { params: { id } })).rejects.toMatchObject({ status: 404 })
  })

  test('after an hour without a report it has expired, and later reports are ignored', async () => {
    const { ctx, call } = await build()
    const { id } = await createInstallCheck(ctx, `${site}/`)
    await sql`UPDATE install_checks SET created_at = now() - interval '61 minutes' WHERE id = ${id}`.execute(
      platform.db,
    )
    expect(await call(get, { params: { id } })).toMatchObject({ state: 'expired' })
    expect(await report(id)).toEqual([200, {}])
    expect(await call(get, { params: { id } })).toMatchObject({ state: 'expired', report: null })
  })
})

describe('reportInstall', () => {
  test('200: the check is installed at once, and the step of the first run is done', async () => {
    const { ctx, call } = await build()
    const { id } = await createInstallCheck(ctx, `${site}/`)
    expect(await report(id)).toEqual([200, {}])
    expect(await call(get, { params: { id } })).toMatchObject({
      state: 'installed',
      report: { host: 'shop.example', path: '/pricing', version: '0.1.0', isOff: false },
    })
    expect((await call(listSetupSteps)).find(({ step }) => step === 'script')).toMatchObject({ done: true })
  })

  test('a host that is not allowed is refused until it is', async () => {
    const { ctx, call, workspace } = await build()
    await changeWorkspace(platform, workspace.id, { allowed_hostnames: ['other.example'] })
    const { id } = await createInstallCheck(ctx, `${site}/`)
    await report(id)
    expect(await call(get, { params: { id } })).toMatchObject({ state: 'refused', report: { host: 'shop.example' } })
    expect((await call(listSetupSteps)).find(({ step }) => step === 'script')).toMatchObject({ done: false })
    await changeWorkspace(platform, workspace.id, { allowed_hostnames: ['other.example', 'shop.example'] })
    expect(await call(get, { params: { id } })).toMatchObject({ state: 'installed' })
  })

  test('an unknown check gets the same response, and hostile values are stored as text', async () => {
    expect(await report(`chk_${randomUUID()}`)).toEqual([200, {}])
    const { ctx } = await build()
    const { id } = await createInstallCheck(ctx, `${site}/`)
    const path = `/\0\uD800${'x'.repeat(1_000)}`
    await reportInstall(platform, 'h'.repeat(500), { check: id, path, version: '1', isOff: true })
    const { report: stored } = await getInstallCheck(ctx, id)
    expect(stored).toMatchObject({ isOff: true, path: path.slice(0, 500).replace('\0', '\uFFFD').toWellFormed() })
    expect(stored?.host).toHaveLength(253)
  })

  test('400 and 422: a body that is not a report', async () => {
    expect(await report('x', { path: 1 })).toMatchObject([400, {}])
    expect(await report('x', { version: 'v'.repeat(50) })).toMatchObject([422, {}])
  })
})

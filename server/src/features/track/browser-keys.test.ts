import { describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { visit } from '../../../test/visit.ts'
import { createToken } from '../tokens/service.ts'
import { changeWorkspace } from '../workspaces/service.ts'

const platform = await openTestPlatform()
const { api, redirect } = inject('server')
const ours = { origin: 'https://shop.example' }
const person = { customerName: 'Ada Example', customerEmail: 'ada@example.com' }

/** A workspace with a page, a publishable key and a visitor who came by a link. */
async function prepare(allowed_hostnames = ['shop.example']) {
  const workspace = await buildWorkspace(platform)
  await changeWorkspace(platform, workspace.id, { allowed_hostnames })
  const token = await createToken(platform, { workspaceId: workspace.id, name: 'page', isPublishable: true })
  const link = await buildLink(platform, workspace, { key: 'spring', trackConversion: true })
  const { headers } = await visit(`${redirect}/spring`, {
    host: link.domain,
    'user-agent': 'Mozilla/5.0 Firefox/143.0',
  })
  const clickId = new URL(headers.location ?? '').searchParams.get('trib_id')
  return { workspace, token, link, clickId }
}

async function call(key: string, path: string, body: object, headers: Record<string, string> = ours) {
  const response = await fetch(api + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as object }
}

const lead = (clickId: string | null) => ({ clickId, eventName: 'Sign up', customerExternalId: 'c-1', ...person })

describe('a publishable key', () => {
  test('tracks leads and sales of its pages, which may read the answer', async () => {
    const { token, link, clickId } = await prepare()
    expect(token.key).toMatch(/^trib_pk_[A-Za-z0-9]{32}$/)
    const tracked = await call(token.key, '/track/lead', lead(clickId))
    expect(tracked).toMatchObject({ status: 200, body: { click: { id: clickId }, link: { id: link.id } } })
    expect(tracked.headers.get('access-control-allow-origin')).toBe('*')
    expect(tracked.headers.get('x-ratelimit-limit')).toBe('600')
    const sale = { customerExternalId: 'c-1', amount: 1_999, invoiceId: 'i-1' }
    const sold = await call(token.key, '/track/sale', sale)
    expect(sold).toMatchObject({ status: 200, body: { sale: { amount: 1_999, invoiceId: 'i-1' } } })
  })

  test('does not tell who a customer is, as a secret key does', async () => {
    const { workspace, token, clickId } = await prepare()
    const nobody = { name: null, email: null, avatar: null, externalId: 'c-1' }
    const seen = (name: string | null) => ({ body: { customer: { name } } })
    expect(await call(workspace.key, '/track/lead', lead(clickId))).toMatchObject(seen(person.customerName))
    expect(await call(token.key, '/track/lead', lead(clickId))).toMatchObject({ body: { customer: nobody } })
    const sale = { customerExternalId: 'c-1', amount: 5 }
    expect(await call(token.key, '/track/sale', sale)).toMatchObject({ body: { customer: nobody } })
  })

  test.each<Record<string, string>>([{}, { origin: 'https://evil.example' }, { origin: 'null' }])(
    'is refused from elsewhere: %j',
    async (headers) => {
      const { token, clickId } = await prepare()
      const { status, body } = await call(token.key, '/track/lead', lead(clickId), headers)
      expect({ status, body }).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } })
    },
  )

  test('is refused until the workspace has said where its pages are', async () => {
    const { token, clickId, workspace } = await prepare([])
    expect(await call(token.key, '/track/lead', lead(clickId))).toMatchObject({
      status: 403,
      body: {
        error: {
          message: `A publishable key works once its workspace has said where: tributary workspace set ${workspace.slug} --allowed-hostnames <hostnames of your sites>.`,
        },
      },
    })
  })

  test('does nothing else', async () => {
    const { token } = await prepare()
    const headers = { authorization: `Bearer ${token.key}`, ...ours }
    expect((await fetch(`${api}/links`, { headers })).status).toBe(403)
    expect((await fetch(`${api}/events`, { headers })).status).toBe(403)
    expect(await call(token.key, '/track/refund', { invoiceId: 'i-1' })).toMatchObject({
      status: 403,
      body: {
        error: { message: '/track/refund is not for publishable keys. Call it from your server, with a secret key.' },
      },
    })
  })
})

test('a secret key works from everywhere', async () => {
  const { workspace, clickId }: { workspace: BuiltWorkspace; clickId: string | null } = await prepare()
  expect((await call(workspace.key, '/track/lead', lead(clickId), {})).status).toBe(200)
})

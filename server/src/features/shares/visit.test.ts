import { changePublicStats } from '@tributary/contract/public-stats'
import type { NewShare, SharePage } from '@tributary/contract/shares'
import { describe, expect, inject, it } from 'vitest'
import { buildShared, visitShare } from '../../../test/shares.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { createFolder, updateFolder } from '../folders/service.ts'
import { changeWorkspace } from '../workspaces/service.ts'
import { openVisits } from './visit.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const setUp = () => buildShared(platform, api)
const page = (id: string, given = {}) => visitShare(`${api}/shares/${id}/page`, given)
const count = (id: string, body: object = {}, given = {}) =>
  visitShare(`${api}/shares/${id}/analytics`, { body: { groupBy: ['count'], ...body }, ...given })
const unlock = (id: string, password: string) => visitShare(`${api}/shares/${id}/unlock`, { body: { password } })
const message = ({ json }: { json: { error: { message: string } } }) => json.error.message

describe('getSharePage', () => {
  it('200: says what the page shows, and nothing of the workspace, the view or the folder', async () => {
    const { share, link, folder, saveView, workspace } = await setUp()
    await changeWorkspace(platform, workspace.id, { time_zone: 'Asia/Tokyo', currency: 'eur' })
    const view = await saveView({ country: 'DE,FR', folderId: folder.id, period: '7d', chart: 'bars' })
    const shown = {
      ...{ isLocked: false, title: null, shortLink: null, period: '30d', start: null, end: null },
      ...{ timezone: 'Asia/Tokyo', weekStart: expect.any(Number), currency: null },
      ...{ showConversions: false, filter: {} },
    }
    const read = async (body: Partial<NewShare>) => {
      const { text, json } = await page((await share(body)).id)
      expect(text).not.toMatch(new RegExp(`${workspace.id}|Secret|${folder.id}|${view.id}|${link.id}`))
      return json as SharePage
    }
    expect(await read({ linkId: link.id })).toEqual({ ...shown, shortLink: link.shortLink })
    expect(await read({ folderId: folder.id, title: 'Spring' })).toEqual({ ...shown, title: 'Spring' })
    expect(await read({ viewId: view.id, showConversions: true })).toEqual({
      ...{ ...shown, period: '7d', filter: { country: 'DE,FR' }, showConversions: true, currency: 'eur' },
    })
  })

  it('200: says only that a page with a password is locked, until the password is sent', async () => {
    const { share, link } = await setUp()
    const { id } = await share({ linkId: link.id, title: 'Spring', password: 'hush' })
    expect(await page(id)).toMatchObject({ status: 200, json: { isLocked: true } })
    expect((await page(id)).text).toBe('{"isLocked":true}')
    expect((await page(id, { password: 'wrong' })).status).toBe(401)
    expect((await page(id, { password: 'hush' })).json).toMatchObject({ isLocked: false, title: 'Spring' })
  })
})

describe('a page that is not there', () => {
  it('404: unknown, ended and deleted pages all have the same answers', async () => {
    const { share, link, folder, saveView, call, workspace } = await setUp()
    const view = await saveView({})
    const never = `share_${'x'.repeat(24)}`
    const ended = await share({ linkId: link.id, password: 'hush', endsAt: '2020-01-01T00:00:00Z' })
    const [deleted, ofView, ofLink, ofFolder] = [
      await share({ linkId: link.id }),
      await share({ viewId: view.id }),
      await share({ linkId: link.id }),
      await share({ folderId: folder.id }),
    ]
    for (const { id } of [deleted, ofView, ofLink, ofFolder]) expect((await page(id)).status).toBe(200)
    await call('deleteShare', { params: { id: deleted.id } })
    await call('deleteView', { params: { id: view.id } })
    await call('deleteFolder', { params: { id: folder.id } })
    await call('deleteLink', { params: { linkId: link.id } })
    const ids = [ended, deleted, ofView, ofLink, ofFolder].map(({ id }) => id)
    const visits = [page, count, (id: string) => unlock(id, 'hush'), (id: string) => page(id, { password: 'hush' })]
    for (const visit of visits) {
      const unknown = await visit(never)
      expect(unknown.status).toBe(404)
      for (const id of [...ids, link.id, folder.id, view.id, workspace.id, 'share_']) {
        expect(await visit(id)).toEqual(unknown)
      }
    }
    await call('restoreLink', { params: { linkId: link.id } })
    expect((await page(ofLink.id)).status).toBe(200)
  })

  it('404: from the moment of its end by the clock, and not before', async () => {
    const { share, link } = await setUp()
    const endsAt = new Date(Date.now() + 3_600_000)
    const { id } = await share({ linkId: link.id, endsAt: endsAt.toISOString() })
    const visitor = { network: '10.0.0.1', password: '', token: '' }
    const readAt = (ms: number) => openVisits({ ...platform, now: () => new Date(ms) }).readPage(id, visitor)
    expect(await readAt(endsAt.getTime() - 1)).toMatchObject({ isLocked: false })
    await expect(readAt(endsAt.getTime())).rejects.toMatchObject({ status: 404 })
  })

  it('404: for a view that was changed to count what can not be shared', async () => {
    const { share, saveView, call } = await setUp()
    const { id: viewId } = await saveView({ country: 'DE' })
    const { id } = await share({ viewId })
    const refused: Record<string, string>[] = [{ customerId: 'cus_1' }, { tags: 'x' }, { start: 'soon' }]
    for (const query of refused) {
      await call('updateView', { params: { id: viewId }, body: { query } })
      expect([(await page(id)).status, (await count(id)).status]).toEqual([404, 404])
    }
    await call('updateView', { params: { id: viewId }, body: { query: { country: 'FR' } } })
    expect((await count(id)).json).toEqual({ count: { clicks: 2 } })
  })
})

describe('the password', () => {
  it('401: is checked by every call, and ten wrong ones are enough for ten minutes', async () => {
    const { share, link } = await setUp()
    const { id } = await share({ linkId: link.id, password: 'Пароль – hush' })
    expect(message(await count(id))).toContain('X-Stats-Password')
    expect((await unlock(id, 'Пароль – hush')).status).toBe(200)
    const guesses = Array.from({ length: 12 }, (_, index) => unlock(id, `guess ${index}`))
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(2)
    for (const visit of [() => unlock(id, 'Пароль – hush'), () => count(id, {}, { password: 'x' })])
      expect((await visit()).status).toBe(429)
  })

  it('unlocks by a cookie without the password, for this share and this password only', async () => {
    const { share, link, call } = await setUp()
    const { id } = await share({ linkId: link.id, password: 'hush-hush' })
    const { id: other } = await share({ linkId: link.id, password: 'hush-hush' })
    const { cookie, text } = await unlock(id, 'hush-hush')
    expect(cookie).toMatch(
      new RegExp(`^tributary_share=[\\w-]{40,}; Path=/shares/${id}; Max-Age=3600; HttpOnly; SameSite=Strict$`),
    )
    expect(cookie + text).not.toContain('hush')
    const given = { cookie: cookie.split(';')[0] ?? '' }
    expect((await count(id, {}, given)).json).toEqual({ count: { clicks: 3 } })
    expect((await page(id, given)).json).toMatchObject({ isLocked: false })
    for (const forged of [given.cookie.slice(0, -2), `${given.cookie}aa`, 'tributary_share=', 'tributary_share=x'])
      expect((await count(id, {}, { cookie: forged })).status).toBe(401)
    expect((await count(other, {}, given)).status).toBe(401)
    await call('updateShare', { params: { id }, body: { password: 'hush-hush' } })
    expect((await count(id, {}, given)).status).toBe(401)
    await call('updateShare', { params: { id }, body: { password: null } })
    expect((await count(id)).status).toBe(200)
    expect((await unlock(id, 'whatever')).status).toBe(200)
  })

  it('has to be sent again after an hour', async () => {
    const { share, link } = await setUp()
    const { id } = await share({ linkId: link.id, password: 'hush' })
    const visitor = { network: '10.0.0.2', password: 'hush', token: '' }
    const { token, expiresAt } = await openVisits(platform).unlock(id, visitor)
    const readAt = (ms: number) =>
      openVisits({ ...platform, now: () => new Date(ms) }).readPage(id, { ...visitor, password: '', token })
    expect(await readAt(expiresAt.getTime() - 1)).toMatchObject({ isLocked: false })
    expect(await readAt(expiresAt.getTime())).toEqual({ isLocked: true })
  })
})

describe('hidden folders', () => {
  it("a shared view leaves out folders that not every member may read, also after a change of the view's filter", async () => {
    const { share, saveView, call, ctx, folder } = await setUp()
    const { id: viewId } = await saveView({ interval: '30d' })
    const { id } = await share({ viewId })
    const clicks = async () => ((await count(id)).json as { count: { clicks: number } }).count.clicks
    expect(await clicks()).toBe(4)
    await updateFolder(ctx, folder.id, { accessLevel: null })
    expect(await clicks()).toBe(1)
    await call('updateView', { params: { id: viewId }, body: { query: { folderId: folder.id } } })
    expect(await clicks()).toBe(0)
    await updateFolder(ctx, folder.id, { accessLevel: 'read' })
    expect(await clicks()).toBe(3)
  })

  it('422: for a new share of a view of such a folder; the folder itself can be shared', async () => {
    const { share, saveView, ctx } = await setUp()
    const hidden = await createFolder(ctx, { name: 'hidden', accessLevel: null })
    const { id: viewId } = await saveView({ folderId: `fold_1,${hidden.id}` })
    await expect(share({ viewId })).rejects.toMatchObject({ status: 422, message: expect.stringContaining(hidden.id) })
    expect(await share({ folderId: hidden.id })).toMatchObject({ name: 'hidden' })
  })
})

describe('publicStats', () => {
  it('gives a link and a folder a page by their ids, with clicks only, until it is false again', async () => {
    const { call, link, folder } = await setUp()
    expect((await page(link.id)).status).toBe(404)
    const change = (body: object) => call(changePublicStats, { body })
    await change({ linkId: link.id })
    await change({ folderId: folder.id, password: 'hush' })
    expect((await page(link.id)).json).toMatchObject({ shortLink: link.shortLink, showConversions: false })
    expect((await count(link.id)).json).toEqual({ count: { clicks: 3 } })
    expect((await page(folder.id)).json).toEqual({ isLocked: true })
    expect((await count(folder.id, {}, { password: 'hush' })).json).toEqual({ count: { clicks: 3 } })
    await change({ linkId: link.id, enabled: false })
    await change({ folderId: folder.id, enabled: false })
    for (const id of [link.id, folder.id]) expect((await page(id)).status).toBe(404)
  })
})

describe('showShare', () => {
  it('is never indexed, framed or stored, and sends its address nowhere', async () => {
    const { share, link } = await setUp()
    const { id } = await share({ linkId: link.id })
    for (const path of [id, 'share_none']) {
      const { headers } = await fetch(`${api}/share/${path}`)
      expect(headers.get('x-robots-tag')).toBe('noindex, nofollow')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
      expect(headers.get('content-security-policy')).not.toMatch(/unsafe|https?:|\*/)
    }
  })
})

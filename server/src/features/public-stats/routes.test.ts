import { createClient } from '@tributary/contract/client'
import { updateLink } from '@tributary/contract/links'
import { changePublicStats } from '@tributary/contract/public-stats'
import { describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { clickRow, leadRow, storeEvents } from '../../../test/events/feed-rows.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { createFolder, deleteFolder } from '../folders/service.ts'
import { linkNumbers } from '../links/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

/** Creates a link in a folder with clicks from Germany, France and a bot, and a link without a folder. */
async function setUp(publicStats = false) {
  const workspace = await buildWorkspace(platform, { plan: 'free' })
  const ctx = contextIn(platform, workspace.id)
  const folder = await createFolder(ctx, { name: 'Spring', accessLevel: 'write' })
  const link = await buildLink(platform, workspace, { key: 'Sale', folderId: folder.id, publicStats })
  const other = await buildLink(platform, workspace)
  const numbers = await Promise.all([link, other].map(({ id }) => linkNumbers(ctx, { ids: [id] })))
  const [owner, stranger] = numbers.map(([linkNumber]) => ({
    workspaceId: workspace.id,
    linkNumber: linkNumber as bigint,
  }))
  if (!owner || !stranger) throw new Error('no links')
  const clicks = [
    clickRow(owner),
    clickRow(owner, { country: 'FR' }),
    clickRow(owner, { bot: 'agent' }),
    clickRow(stranger),
  ]
  await storeEvents(platform, { clicks, leads: [leadRow(owner)] })
  const call = createClient({ url: api, token: workspace.key })
  const change = (body: object) => call(changePublicStats, { body: body as never })
  return { workspace, folder, link, ctx, call, change, address: { domain: workspace.domain, key: 'sale' } }
}

async function read(query: Record<string, string>, password?: string) {
  const headers: Record<string, string> = password === undefined ? {} : { 'x-stats-password': password }
  const response = await fetch(`${api}/public-stats?${new URLSearchParams(query)}`, { headers })
  return { status: response.status, answer: (await response.json()) as { error: { message: string } } }
}

describe('retrievePublicStats', () => {
  it('200: returns the clicks of a link whose publicStats is true, without a key and on the free plan', async () => {
    const { address } = await setUp(true)
    expect(await read(address)).toEqual({ status: 200, answer: { clicks: 2 } })
    expect(await read({ ...address, groupBy: 'countries' })).toEqual({
      status: 200,
      answer: [
        { country: 'DE', clicks: 1 },
        { country: 'FR', clicks: 1 },
      ],
    })
    const { answer } = await read({ ...address, groupBy: 'timeseries', interval: '7d' })
    const series = answer as unknown as { start: string; clicks: number }[]
    expect(series.map((row) => Object.keys(row).sort())).toEqual(series.map(() => ['clicks', 'start']))
    expect(series.reduce((sum, { clicks }) => sum + clicks, 0)).toBe(2)
  })

  it('404: private and missing links get the same response', async () => {
    const { address } = await setUp()
    const [hidden, unknown] = [await read(address), await read({ ...address, key: 'none' })]
    expect(hidden.status).toBe(404)
    expect(JSON.stringify(hidden)).toContain(`There are no public statistics for link ${address.domain}/sale.`)
    expect(unknown).toEqual(JSON.parse(JSON.stringify(hidden).replace('/sale', '/none')))
  })

  it("404: as soon as the link's publicStats is false again", async () => {
    const { address, call, link } = await setUp(true)
    expect((await read(address)).status).toBe(200)
    await call(updateLink, { params: { linkId: link.id }, body: { publicStats: false } })
    expect((await read(address)).status).toBe(404)
  })

  it("200: returns the clicks of a folder's links, until public statistics are off or the folder is deleted", async () => {
    const { folder, change, ctx } = await setUp()
    const query = { folderId: folder.id }
    expect((await read(query)).status).toBe(404)
    await change({ folderId: folder.id })
    await eventually(async () => expect(await read(query)).toEqual({ status: 200, answer: { clicks: 2 } }), 20_000)
    await change({ folderId: folder.id, enabled: false })
    expect((await read(query)).status).toBe(404)
    await change({ folderId: folder.id, enabled: true })
    await deleteFolder(ctx, folder.id)
    expect((await read(query)).status).toBe(404)
  })

  it('401: without the password or with a wrong one; 429: after ten wrong passwords, for this link only', async () => {
    const { address, change, link } = await setUp()
    const settings = await change({ linkId: link.id, password: 'Blüte' })
    expect(settings).toEqual({ linkId: link.id, folderId: null, enabled: true, hasPassword: true })
    expect((await read(address)).answer.error.message).toContain('X-Stats-Password')
    expect((await read(address, encodeURIComponent('Blüte'))).status).toBe(401)
    await change({ linkId: link.id, password: 'open' })
    expect(await read(address, 'open')).toEqual({ status: 200, answer: { clicks: 2 } })
    const wrong = await Promise.all(Array.from({ length: 12 }, (_, index) => read(address, `guess ${index}`)))
    expect(wrong.filter(({ status }) => status === 401)).toHaveLength(9)
    expect(wrong.filter(({ status }) => status === 429)).toHaveLength(3)
    expect((await read(address, 'open')).status).toBe(429)
    await change({ linkId: link.id, password: null })
    expect((await read(address)).status).toBe(200)
  })

  it.each<[string, Record<string, string>, number]>([
    ['nothing', {}, 400],
    ['a link and a folder', { domain: 'a.example', key: 'b', folderId: 'fold_1' }, 400],
    ['a grouping that reveals single visitors', { folderId: 'fold_1', groupBy: 'cities' }, 422],
    ['an unknown folder', { folderId: 'fold_1' }, 404],
  ])('a query with %s is refused', async (_, query, status) => {
    expect((await read(query)).status).toBe(status)
  })
})

describe('changePublicStats', () => {
  it("200: sets the link's publicStats; the stored password stays unless one is sent", async () => {
    const { change, call, link } = await setUp()
    await change({ linkId: link.id, password: 'open' })
    expect((await call(updateLink, { params: { linkId: link.id }, body: {} })).publicStats).toBe(true)
    expect(await change({ linkId: link.id, enabled: false })).toMatchObject({ enabled: false, hasPassword: true })
    expect((await call(updateLink, { params: { linkId: link.id }, body: {} })).publicStats).toBe(false)
  })

  it('404: for a link or folder of another workspace', async () => {
    const { change } = await setUp()
    const { link, folder }: { link: { id: string }; folder: { id: string }; workspace: BuiltWorkspace } = await setUp()
    await expect(change({ linkId: link.id })).rejects.toMatchObject({ status: 404 })
    await expect(change({ folderId: folder.id })).rejects.toMatchObject({ status: 404 })
  })

  it('422: for both or neither of linkId and folderId', async () => {
    const { change, link, folder } = await setUp()
    await expect(change({})).rejects.toMatchObject({ status: 422 })
    await expect(change({ linkId: link.id, folderId: folder.id })).rejects.toMatchObject({ status: 422 })
  })
})

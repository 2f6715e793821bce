import { retrieveAnalytics } from '@tributary/contract/analytics'
import { createClient } from '@tributary/contract/client'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildClick, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { partitionOf } from '../../platform/ids.ts'
import { jetStream } from '../../platform/nats.ts'
import { linkNumbers } from '../links/service.ts'
import { clicksSubject } from '../redirect/messages.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const zeros = { leads: 0, sales: 0, saleAmount: 0 }

let workspace: BuiltWorkspace
let call: ReturnType<typeof createClient>

beforeAll(async () => {
  workspace = await buildWorkspace(platform)
  call = createClient({ url: api, token: workspace.key })
  const clicks = []
  for (const [key, count] of [
    ['popular', 3],
    ['quiet', 1],
  ] as const) {
    const link = await buildLink(platform, workspace, { key, url: `https://example.com/${key}?utm_source=mail` })
    const [number] = await linkNumbers(contextIn(platform, workspace.id), { ids: [link.id] })
    for (let visitor = 0; visitor < count; visitor++) {
      const place = visitor === 0 ? { country: 'DE', region: 'DE-BE', city: 'Berlin' } : {}
      clicks.push(buildClick(platform, { number: number as bigint, workspaceId: workspace.id, url: link.url }, place))
    }
  }
  const partition = partitionOf(workspace.id, platform.config.EVENT_PARTITIONS)
  await jetStream(platform.nats).publish(clicksSubject(partition), JSON.stringify(clicks))
  await eventually(async () => expect(await call(retrieveAnalytics)).toMatchObject({ clicks: 4 }))
})

describe('retrieveAnalytics', () => {
  it('200: counts', async () => {
    expect(await call(retrieveAnalytics, { query: { groupBy: 'count' } })).toEqual({ clicks: 4, ...zeros })
    expect(await call(retrieveAnalytics, { query: { country: '-DE', event: 'composite' } })).toEqual({
      clicks: 2,
      ...zeros,
    })
    expect(await call(retrieveAnalytics, { query: { event: 'leads' } })).toEqual({ clicks: 0, ...zeros })
  })

  it('200: groups, most first, with what is unknown', async () => {
    const groups = async (groupBy: 'countries' | 'cities' | 'continents' | 'devices' | 'utm_sources' | 'top_urls') =>
      call(retrieveAnalytics, { query: { groupBy } })
    expect(await groups('countries')).toEqual([
      { country: 'DE', region: '*', city: '*', clicks: 2, ...zeros },
      { country: 'Unknown', region: '*', city: '*', clicks: 2, ...zeros },
    ])
    expect(await groups('cities')).toContainEqual({
      country: 'DE',
      region: 'DE-BE',
      city: 'Berlin',
      clicks: 2,
      ...zeros,
    })
    expect(await groups('continents')).toEqual([{ continent: 'EU', clicks: 2, ...zeros }])
    expect(await groups('devices')).toEqual([{ device: 'Desktop', clicks: 4, ...zeros }])
    expect(await groups('utm_sources')).toEqual([{ utm_source: 'mail', clicks: 4, ...zeros }])
    expect(await groups('top_urls')).toHaveLength(2)
  })

  it('200: top links with their names', async () => {
    const top = await call(retrieveAnalytics, { query: { groupBy: 'top_links' } })
    expect(top).toMatchObject([
      { key: 'popular', clicks: 3 },
      { key: 'quiet', clicks: 1, domain: workspace.domain },
    ])
  })

  it('403: not on the free plan', async () => {
    const { key } = await buildWorkspace(platform, { plan: 'free' })
    await expect(createClient({ url: api, token: key })(retrieveAnalytics)).rejects.toMatchObject({
      status: 403,
      code: 'forbidden',
    })
    const pro = await buildWorkspace(platform, { plan: 'pro' })
    expect(await createClient({ url: api, token: pro.key })(retrieveAnalytics)).toEqual({ clicks: 0, ...zeros })
  })

  it('422: a grouping that does not exist', async () => {
    const response = await fetch(`${api}/analytics?groupBy=mood`, {
      headers: { authorization: `Bearer ${workspace.key}` },
    })
    expect(response.status).toBe(422)
  })
})

import { randomUUID } from 'node:crypto'
import { createClient } from '@tributary/contract/client'
import { createDomain } from '@tributary/contract/domains'
import { listSetupSteps } from '@tributary/contract/setup-steps'
import { trackLead, trackSale } from '@tributary/contract/track'
import { sql } from 'kysely'
import { expect, inject, it } from 'vitest'
import { browser, buildConversionLink, buildLink, buildWorkspace } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { createToken } from '../tokens/service.ts'
import { createWorkspace } from '../workspaces/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

it('each step is done when the server has seen it', async () => {
  const { id } = await createWorkspace(platform, { name: `t-${randomUUID().slice(0, 13)}`, plan: 'enterprise' })
  const { key } = await createToken(platform, { workspaceId: id, name: 'test' })
  const call = createClient({ url: api, token: key })
  const done = async () => (await call(listSetupSteps)).filter(({ done }) => done).map(({ step }) => step)
  expect(await call(listSetupSteps)).toEqual(
    ['domain', 'link', 'script', 'lead', 'sale'].map((step) => ({ step, done: false })),
  )
  const { slug } = await call(createDomain, { body: { slug: `${randomUUID()}.example.com` } })
  expect(await done()).toEqual([])
  await sql`UPDATE domains SET verified = true WHERE workspace_id = ${id}`.execute(platform.db)
  expect(await done()).toEqual(['domain'])
  const workspace = { ...(await buildWorkspace(platform)), id }
  const link = await buildLink(platform, workspace, { domain: slug, key: 'spring', trackConversion: true })
  expect(await done()).toEqual(['domain', 'link'])
  const response = await fetch(`${api}/track/click`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': browser, referer: 'https://shop.example.com/' },
    body: JSON.stringify({ domain: slug, key: link.key }),
  })
  const { clickId } = (await response.json()) as { clickId: string }
  await eventually(async () => expect(await done()).toEqual(['domain', 'link', 'script']))
  const customerExternalId = randomUUID()
  await call(trackLead, { body: { clickId, eventName: 'Sign up', customerExternalId } })
  expect(await done()).toEqual(['domain', 'link', 'script', 'lead'])
  await call(trackSale, { body: { customerExternalId, amount: 500 } })
  expect(await done()).toEqual(['domain', 'link', 'script', 'lead', 'sale'])
})

it('a lead that a server reports shows that the script is installed', async () => {
  const { workspace, click } = await buildConversionLink(platform)
  const call = createClient({ url: api, token: workspace.key })
  await call(trackLead, {
    body: { clickId: click().id, eventName: 'Sign up', customerExternalId: randomUUID() },
  })
  const steps = await call(listSetupSteps)
  expect(steps.filter(({ done }) => !done).map(({ step }) => step)).toEqual(['sale'])
})

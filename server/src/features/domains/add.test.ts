import { describe, expect, inject, test } from 'vitest'
import { contextIn } from '../../../test/context.ts'
import { setZone } from '../../../test/dns-server.ts'
import { openOwnDatabase, takeMessages } from '../../../test/own-database.ts'
import { newId } from '../../platform/ids.ts'
import { createWorkspace } from '../workspaces/service.ts'
import { createDomain, registerDomain } from './add.ts'
import { updateDomain } from './change.ts'
import { proofs } from './records.ts'
import { addDomain, findDomainForRedirect, listDomains } from './service.ts'

const platform = await openOwnDatabase()
const dns = inject('dns')

async function newCtx() {
  const { id } = await createWorkspace(platform, { name: `w ${newId('ws').slice(-12)}` })
  return contextIn(platform, id)
}
type Ctx = Awaited<ReturnType<typeof newCtx>>

const newName = () => `${newId('dom').slice(-12)}.example.com`
const all = { archived: true, sortBy: 'createdAt', sortOrder: 'asc', page: 1, pageSize: 100 } as const
const listNames = async (ctx: Ctx) => (await listDomains(ctx, all)).map(({ slug, primary }) => [slug, primary])
const buildProof = (ctx: Ctx, slug: string) => proofs(platform.config.ENCRYPTION_KEYS, ctx.workspaceId, slug)[0]

function prove(slug: string, ...owners: Ctx[]): Promise<void> {
  return setZone(
    dns,
    `_tributary.${slug}`,
    owners.map((ctx) => ({ type: 'TXT', data: buildProof(ctx, slug) })),
  )
}

describe('a free domain name', () => {
  test('is added as an unverified domain with its settings, and an event is published', async () => {
    const ctx = await newCtx()
    const slug = newName()
    const settings = {
      archived: true,
      placeholder: 'https://example.com/sample',
      expiredUrl: 'https://example.com/expired',
      notFoundUrl: 'https://example.com/none',
      logo: 'https://example.com/logo.png',
      assetLinks: '[]',
      appleAppSiteAssociation: '{}',
    }
    await takeMessages(platform)
    const domain = await createDomain(ctx, { slug: slug.toUpperCase(), ...settings })
    expect(domain).toMatchObject({ slug, verified: false, primary: true, ...settings })
    expect(await takeMessages(platform)).toEqual([{ workspaceId: ctx.workspaceId, slug, deleted: false }])
    expect(await findDomainForRedirect(platform, slug)).toEqual({
      id: domain.id,
      workspaceId: ctx.workspaceId,
      slug,
      expiredUrl: settings.expiredUrl,
      notFoundUrl: settings.notFoundUrl,
      assetLinks: '[]',
      appleAppSiteAssociation: '{}',
    })
  })

  test('in another script is stored in Punycode', async () => {
    const word = newId('dom').slice(-12)
    expect((await createDomain(await newCtx(), { slug: `Bücher-${word}.example` })).slug).toMatch(
      new RegExp(`^xn--bcher-${word}-.+\\.example$`),
    )
  })

  test('goes to one of twenty workspaces that add it concurrently', async () => {
    const slug = newName()
    const contexts = await Promise.all(Array.from({ length: 20 }, newCtx))
    const outcomes = await Promise.allSettled(contexts.map((ctx) => createDomain(ctx, { slug })))
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(refusals).toHaveLength(19)
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'conflict' })
  })

  test('becomes the only primary domain when a workspace adds twenty names concurrently', async () => {
    const ctx = await newCtx()
    const domains = await Promise.all(Array.from({ length: 20 }, () => createDomain(ctx, { slug: newName() })))
    expect(domains.filter((domain) => domain.primary)).toHaveLength(1)
  })
})

describe('a domain name of another workspace', () => {
  test('is refused, with the DNS record that would prove ownership', async () => {
    const [theirs, ours] = [await newCtx(), await newCtx()]
    const slug = newName()
    await createDomain(theirs, { slug })
    await takeMessages(platform)
    const message = `Another workspace has the domain ${slug}. If it is yours, set the TXT record _tributary.${slug} to ${buildProof(ours, slug)} and add the domain again.`
    await expect(createDomain(ours, { slug })).rejects.toMatchObject({ code: 'conflict', message })
    await expect(registerDomain(ours, slug)).rejects.toMatchObject({ code: 'conflict', message })
    expect(await listNames(theirs)).toEqual([[slug, true]])
    expect(await takeMessages(platform)).toEqual([])
  })

  test.each<[string, (slug: string, theirs: Ctx, ours: Ctx) => Promise<void>]>([
    ["the owner's proof", (slug, theirs) => prove(slug, theirs)],
    [
      'our proof at the name itself',
      (slug, _theirs, ours) => setZone(dns, slug, [{ type: 'TXT', data: buildProof(ours, slug) }]),
    ],
    ['our CNAME', (slug) => setZone(dns, slug, [{ type: 'CNAME', data: 'cname.tributary.example' }])],
    ['our address', (slug) => setZone(dns, slug, [{ type: 'A', data: '192.0.2.10' }])],
    ['a failing DNS server', (slug) => setZone(dns, `_tributary.${slug}`, 'SERVFAIL')],
  ])('is not taken over with %s', async (_name, setUp) => {
    const [theirs, ours] = [await newCtx(), await newCtx()]
    const { slug } = await addDomain(platform, { workspaceId: theirs.workspaceId, slug: newName() })
    await setUp(slug, theirs, ours)
    await expect(createDomain(ours, { slug })).rejects.toMatchObject({ code: 'conflict' })
    expect(await listNames(theirs)).toEqual([[slug, true]])
    expect(await listNames(ours)).toEqual([])
  })

  test('is taken over with our TXT record: it is verified, gets a new id, and both workspaces get events', async () => {
    const [theirs, ours] = [await newCtx(), await newCtx()]
    const slug = newName()
    const before = await createDomain(theirs, { slug, notFoundUrl: 'https://theirs.example/' })
    const second = await createDomain(theirs, { slug: newName() })
    await prove(slug, theirs, ours)
    await takeMessages(platform)

    const domain = await createDomain(ours, { slug, expiredUrl: 'https://ours.example/' })
    expect(domain).toMatchObject({ slug, verified: true, primary: true, notFoundUrl: null })
    expect(domain.id).not.toBe(before.id)
    expect(await listNames(ours)).toEqual([[slug, true]])
    expect(await listNames(theirs)).toEqual([[second.slug, true]])
    expect(await takeMessages(platform)).toEqual([
      { workspaceId: theirs.workspaceId, slug, deleted: true },
      { workspaceId: theirs.workspaceId, slug: second.slug, deleted: false },
      { workspaceId: ours.workspaceId, slug, deleted: false },
    ])
    expect(await findDomainForRedirect(platform, slug)).toMatchObject({ id: domain.id, notFoundUrl: null })
  })

  test('is taken over by one of ten workspaces that prove ownership, and then by the others in turn', async () => {
    const slug = newName()
    const contexts = await Promise.all(Array.from({ length: 10 }, newCtx))
    await createDomain(await newCtx(), { slug })
    await prove(slug, ...contexts)
    const outcomes = await Promise.allSettled(contexts.map((ctx) => createDomain(ctx, { slug })))
    const lost = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    for (const reason of lost) expect(reason).toMatchObject({ code: 'conflict' })
    expect(outcomes.length - lost.length).toBeGreaterThanOrEqual(1)
    const names = await Promise.all(contexts.map(listNames))
    expect(names.flat()).toEqual([[slug, true]])
  })

  test('is taken over without a deadlock when two workspaces take from each other at once', async () => {
    const [one, other] = [await newCtx(), await newCtx()]
    const [first, second] = [newName(), newName()]
    await createDomain(one, { slug: first })
    await createDomain(other, { slug: second })
    await prove(first, other)
    await prove(second, one)
    await Promise.all([createDomain(other, { slug: first }), createDomain(one, { slug: second })])
    expect(await listNames(one)).toEqual([[second, true]])
    expect(await listNames(other)).toEqual([[first, true]])
  })

  test('is taken over by registerDomain too', async () => {
    const [theirs, ours] = [await newCtx(), await newCtx()]
    const slug = newName()
    await createDomain(theirs, { slug })
    await prove(slug, ours)
    expect(await registerDomain(ours, slug)).toEqual({ domain: slug, status: 'active', expiration: null })
  })
})

test('a domain name that the workspace itself has is refused, proved or not', async () => {
  const ctx = await newCtx()
  const slug = newName()
  await createDomain(ctx, { slug })
  await prove(slug, ctx)
  await expect(createDomain(ctx, { slug })).rejects.toMatchObject({
    code: 'conflict',
    message: `This workspace already has the domain ${slug}.`,
  })
})

test('a domain name that its workspace deleted can be added again', async () => {
  const [theirs, ours] = [await newCtx(), await newCtx()]
  const slug = newName()
  await createDomain(theirs, { slug })
  await updateDomain(theirs, slug, { slug: newName() })
  expect(await createDomain(ours, { slug })).toMatchObject({ slug, verified: false })
})

import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { contextIn } from '../../../test/context.ts'
import { openOwnDatabase, takeMessages } from '../../../test/own-database.ts'
import { newId } from '../../platform/ids.ts'
import { createWorkspace } from '../workspaces/service.ts'
import { createDomain } from './add.ts'
import { deleteDomain, updateDomain } from './change.ts'
import { addDomain, listDomains } from './service.ts'
import { type DomainRow, selectDomainBySlug } from './store.ts'

const opened = await openOwnDatabase()
let clock = Date.now()
const platform = { ...opened, now: () => new Date(clock) }

async function newCtx() {
  const { id } = await createWorkspace(platform, { name: `w ${newId('ws').slice(-12)}` })
  return contextIn(platform, id)
}
type Ctx = Awaited<ReturnType<typeof newCtx>>

const newName = () => `${newId('dom').slice(-12)}.example.com`
const all = { archived: true, sortBy: 'createdAt', sortOrder: 'asc', page: 1, pageSize: 100 } as const
const add = (ctx: Ctx, slug = newName()) => addDomain(platform, { workspaceId: ctx.workspaceId, slug })
const readRow = async (slug: string) => (await selectDomainBySlug(platform.db, slug)) as DomainRow

async function primaries(ctx: Ctx): Promise<string[]> {
  return (await listDomains(ctx, all)).filter((domain) => domain.primary).map((domain) => domain.slug)
}

describe('updateDomain', () => {
  test('writes the given fields, leaves the rest, and publishes an event', async () => {
    const ctx = await newCtx()
    const { slug, id } = await add(ctx)
    await updateDomain(ctx, slug, { expiredUrl: 'https://example.com/expired', logo: 'https://example.com/l.png' })
    await takeMessages(platform)
    clock += 5_000
    const patch = { notFoundUrl: 'https://example.com/none', logo: null, archived: true, placeholder: 'hint' }
    const domain = await updateDomain(ctx, slug.toUpperCase(), patch)
    expect(domain).toMatchObject({ id, slug, verified: true, expiredUrl: 'https://example.com/expired', ...patch })
    expect(domain.updatedAt).toBe(platform.now().toISOString())
    expect(await takeMessages(platform)).toEqual([{ workspaceId: ctx.workspaceId, slug, deleted: false }])
  })

  test('without a change returns the domain and publishes nothing', async () => {
    const ctx = await newCtx()
    const { slug } = await createDomain(ctx, { slug: newName(), expiredUrl: 'https://example.com/expired' })
    const before = await readRow(slug)
    await takeMessages(platform)
    clock += 5_000
    const same = {
      slug: slug.toUpperCase(),
      primary: true,
      archived: false,
      expiredUrl: before.expired_url,
      logo: null,
    }
    for (const patch of [{}, { archived: false }, same]) {
      expect((await updateDomain(ctx, slug, patch)).updatedAt).toBe(before.updated_at.toISOString())
    }
    expect(await readRow(slug)).toEqual(before)
    expect(await takeMessages(platform)).toEqual([])
  })

  test('fails with not found for an unknown domain or one of another workspace', async () => {
    const [ours, theirs] = [await newCtx(), await newCtx()]
    const { slug } = await add(theirs)
    for (const name of [slug, newName(), 'no host']) {
      const message = `There is no domain ${name} in this workspace.`
      await expect(updateDomain(ours, name, { archived: true })).rejects.toMatchObject({ code: 'not_found', message })
      await expect(deleteDomain(ours, name)).rejects.toMatchObject({ code: 'not_found', message })
    }
    expect(await readRow(slug)).toMatchObject({ archived: false })
  })

  test('finds a domain by its name in another script', async () => {
    const ctx = await newCtx()
    const written = `bücher-${newId('dom').slice(-12)}.example`
    const { slug } = await createDomain(ctx, { slug: written })
    expect(await updateDomain(ctx, written, { archived: true })).toMatchObject({ slug, archived: true })
    expect(await deleteDomain(ctx, written)).toEqual({ slug })
  })
})

describe('rename', () => {
  test('keeps the id and settings of a domain, resets its verification, and publishes both names', async () => {
    const ctx = await newCtx()
    const before = await add(ctx)
    await updateDomain(ctx, before.slug, { notFoundUrl: 'https://example.com/none' })
    await takeMessages(platform)
    const name = newName()
    expect(await updateDomain(ctx, before.slug, { slug: name.toUpperCase(), archived: false })).toMatchObject({
      id: before.id,
      slug: name,
      verified: false,
      primary: true,
      notFoundUrl: 'https://example.com/none',
    })
    expect(await readRow(before.slug)).toBeUndefined()
    expect(await readRow(name)).toMatchObject({
      checks: 0,
      check_at: platform.now(),
      checked_at: null,
      check_result: null,
    })
    expect(await takeMessages(platform)).toEqual([
      { workspaceId: ctx.workspaceId, slug: before.slug, deleted: false, renamedTo: name },
      { workspaceId: ctx.workspaceId, slug: name, deleted: false },
    ])
  })

  test('to a taken name is refused, whichever workspace has it', async () => {
    const [ours, theirs] = [await newCtx(), await newCtx()]
    const { slug } = await add(ours)
    const taken = [await add(ours), await add(theirs)]
    await takeMessages(platform)
    for (const { slug: name } of taken) {
      await expect(updateDomain(ours, slug, { slug: name })).rejects.toMatchObject({
        code: 'conflict',
        message: `The domain ${name} is already in use.`,
      })
    }
    expect(await readRow(slug)).toMatchObject({ verified: true })
    expect(await takeMessages(platform)).toEqual([])
  })

  test('to an invalid host name, or one of the installation, is refused', async () => {
    const ctx = await newCtx()
    const { slug } = await add(ctx)
    for (const name of ['localhost', '192.0.2.1', 'a b.example', platform.config.SHORT_DOMAIN]) {
      await expect(updateDomain(ctx, slug, { slug: name })).rejects.toMatchObject({
        code: 'unprocessable_entity',
        message: expect.stringMatching(/^`slug` in the body must /),
      })
    }
  })

  test('of twenty domains to the same name succeeds once', async () => {
    const ctx = await newCtx()
    const domains = await Promise.all(Array.from({ length: 20 }, () => add(ctx)))
    const name = newName()
    const outcomes = await Promise.allSettled(domains.map(({ slug }) => updateDomain(ctx, slug, { slug: name })))
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(refusals).toHaveLength(19)
    for (const refusal of refusals) expect(refusal).toMatchObject({ code: 'conflict' })
    expect(await listDomains(ctx, all)).toHaveLength(20)
  })
})

describe('primary', () => {
  test('moves to another domain, and an event is published for both domains', async () => {
    const ctx = await newCtx()
    const [first, second] = [await add(ctx), await add(ctx)]
    await takeMessages(platform)
    expect(await updateDomain(ctx, second.slug, { primary: true })).toMatchObject({ primary: true })
    expect(await primaries(ctx)).toEqual([second.slug])
    expect(await takeMessages(platform)).toEqual([
      { workspaceId: ctx.workspaceId, slug: second.slug, deleted: false },
      { workspaceId: ctx.workspaceId, slug: first.slug, deleted: false },
    ])
  })

  test("can't be set to false for the primary domain, and false has no effect on other domains", async () => {
    const ctx = await newCtx()
    const [first, second] = [await add(ctx), await add(ctx)]
    await expect(updateDomain(ctx, first.slug, { primary: false })).rejects.toMatchObject({
      code: 'unprocessable_entity',
      message: '`primary` in the body must not be false for the primary domain. Make another domain primary.',
    })
    expect(await updateDomain(ctx, second.slug, { primary: false })).toMatchObject({ primary: false })
    expect(await primaries(ctx)).toEqual([first.slug])
  })

  test('is exactly one domain after twenty concurrent switches, ten times over', async () => {
    const ctx = await newCtx()
    const domains = await Promise.all(Array.from({ length: 20 }, () => add(ctx)))
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(domains.map(({ slug }) => updateDomain(ctx, slug, { primary: true })))
      expect(answers.every((answer) => answer.primary)).toBe(true)
      expect(await primaries(ctx)).toHaveLength(1)
    }
  })

  test('is exactly one domain through concurrent switches, additions and deletions', async () => {
    const ctx = await newCtx()
    const domains = await Promise.all(Array.from({ length: 12 }, () => add(ctx)))
    const [unchanged, removed] = [domains.slice(0, 6), domains.slice(6)]
    await Promise.all([
      ...unchanged.map(({ slug }) => updateDomain(ctx, slug, { primary: true })),
      ...removed.map(({ slug }) => updateDomain(ctx, slug, { primary: true }).catch(() => {})),
      ...removed.map(({ slug }) => deleteDomain(ctx, slug)),
      ...Array.from({ length: 6 }, () => add(ctx)),
    ])
    expect(await listDomains(ctx, all)).toHaveLength(12)
    expect(await primaries(ctx)).toHaveLength(1)
  })

  test('changes do not affect other workspaces', async () => {
    const [ours, theirs] = [await newCtx(), await newCtx()]
    const their = await add(theirs)
    await add(ours)
    await updateDomain(ours, (await add(ours)).slug, { primary: true })
    expect(await primaries(theirs)).toEqual([their.slug])
  })
})

describe('deleteDomain', () => {
  test('deletes the domain and publishes an event', async () => {
    const ctx = await newCtx()
    const [first, second] = [await add(ctx), await add(ctx)]
    await takeMessages(platform)
    expect(await deleteDomain(ctx, second.slug)).toEqual({ slug: second.slug })
    expect(await readRow(second.slug)).toBeUndefined()
    expect(await takeMessages(platform)).toEqual([{ workspaceId: ctx.workspaceId, slug: second.slug, deleted: true }])
    expect(await primaries(ctx)).toEqual([first.slug])
    await expect(deleteDomain(ctx, second.slug)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('makes the oldest remaining domain primary when the primary one is deleted', async () => {
    const ctx = await newCtx()
    const [first, second, third] = [await add(ctx), await add(ctx), await add(ctx)]
    await takeMessages(platform)
    await deleteDomain(ctx, first.slug)
    expect(await primaries(ctx)).toEqual([second.slug])
    expect(await takeMessages(platform)).toEqual([
      { workspaceId: ctx.workspaceId, slug: first.slug, deleted: true },
      { workspaceId: ctx.workspaceId, slug: second.slug, deleted: false },
    ])
    await deleteDomain(ctx, third.slug)
    await deleteDomain(ctx, second.slug)
    expect(await listDomains(ctx, all)).toEqual([])
  })

  test('succeeds once when called twenty times at once', async () => {
    const ctx = await newCtx()
    const { slug } = await add(ctx)
    await takeMessages(platform)
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => deleteDomain(ctx, slug)))
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
    expect(await takeMessages(platform)).toHaveLength(1)
  })
})

test("a domain event has PostgreSQL's time", async () => {
  const ctx = await newCtx()
  await takeMessages(platform)
  const { slug } = await add(ctx)
  await deleteDomain(ctx, slug)
  const { rows } = await sql<{ at: Date; created_at: Date }>`
    SELECT (body ->> 'at')::timestamptz AS at, created_at FROM outbox ORDER BY id`.execute(platform.db)
  expect(rows).toHaveLength(2)
  for (const { at, created_at } of rows) expect(at).toEqual(created_at)
})

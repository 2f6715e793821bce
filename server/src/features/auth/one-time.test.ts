import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildUser } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { issueLink, peekLink, useLink } from './one-time.ts'

const platform = await openTestPlatform({ API_URL: 'https://links.example.com' })
const tokenIn = (link: string) => new URL(link).searchParams.get('token') ?? ''

test('of 50 concurrent uses of a link, one succeeds', async () => {
  const { id } = await buildUser(platform)
  const link = await issueLink(platform, 'sign-in', { userId: id }, { next: '/docs' })
  expect(link).toMatch(/^https:\/\/links\.example\.com\/sign-in\/use-link\?token=[\w-]{32}&next=%2Fdocs$/)
  expect(await peekLink(platform, 'sign-in', tokenIn(link))).toEqual({ userId: id })
  const uses = await Promise.allSettled(Array.from({ length: 50 }, () => useLink(platform, 'sign-in', tokenIn(link))))
  expect(uses.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('a link works for its purpose and time only', async () => {
  const { id } = await buildUser(platform)
  const token = tokenIn(await issueLink(platform, 'sign-in', { userId: id }))
  await expect(useLink(platform, 'reset', token)).rejects.toThrow('used already or has expired')
  const late = tokenIn(await issueLink(platform, 'sign-in', { userId: id }, { lifetimeMs: -1 }))
  await expect(useLink(platform, 'sign-in', late)).rejects.toThrow('used already or has expired')
})

test('expired links are removed when new ones are issued', async () => {
  const { id } = await buildUser(platform)
  await issueLink(platform, 'sign-in', { userId: id }, { lifetimeMs: -1 })
  await issueLink(platform, 'sign-in', { userId: id })
  const { rows } = await sql`SELECT FROM verifications WHERE value LIKE ${`%${id}%`}`.execute(platform.db)
  expect(rows).toHaveLength(1)
})

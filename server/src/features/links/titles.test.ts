import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { linkTitles } from './service.ts'

const platform = await openTestPlatform()

test('a list of links ends before its texts exceed 16 MB', async () => {
  const workspace = await buildWorkspace(platform)
  const { id } = await buildLink(platform, workspace, {})
  await sql`INSERT INTO links (id, workspace_id, domain, key, lookup_key, url, comments)
    SELECT ${id} || n, ${workspace.id}, ${workspace.domain}, 'long' || n, 'long' || n,
      'https://example.com/' || repeat('x', 31900), repeat('y', 10000)
    FROM generate_series(1, 500) AS n`.execute(platform.db)
  const found = await sql<{ number: bigint }>`
    SELECT number FROM links WHERE workspace_id = ${workspace.id} ORDER BY number`.execute(platform.db)
  const numbers = found.rows.map(({ number }) => number)
  const titles = await linkTitles(contextIn(platform, workspace.id), numbers)
  expect(titles.size).toBeGreaterThan(350)
  expect(titles.size).toBeLessThan(400)
  expect([...titles.keys()]).toEqual(numbers.slice(0, titles.size).map(String))
})

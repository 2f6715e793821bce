import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildLink, buildPartner, buildProgram, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { totalsByPartner } from '../partners/service.ts'
import { correctClicks, countClicks } from './service.ts'

const platform = await openTestPlatform()

test("clicks count for the link's partner, and a correction sets them to the sum of its links", async () => {
  const workspace = await buildWorkspace(platform)
  await buildProgram(platform, workspace)
  const partner = await buildPartner(platform, workspace)
  const links = [
    await buildLink(platform, workspace, { partnerId: partner.id }),
    await buildLink(platform, workspace, { partnerId: partner.id }),
    await buildLink(platform, workspace),
  ]
  const found = await sql<{ number: bigint }>`SELECT number FROM links
    WHERE id = ANY(${links.map((link) => link.id)}::text[]) ORDER BY number`.execute(platform.db)
  const [one, two, other] = found.rows.map((row) => row.number) as [bigint, bigint, bigint]
  const clicks = async () =>
    (await totalsByPartner(contextIn(platform, workspace.id), [partner.number])).get(partner.number)?.clicks
  const lastClicked = new Date()
  const count = (linkNumber: bigint, clicks: number) => ({ linkNumber, clicks, lastClicked })
  await countClicks(platform, [count(one, 2), count(two, 3), count(other, 7)])
  await countClicks(platform, [count(other, 1)])
  expect(await clicks()).toBe(5n)
  const correction = { workspace_id: workspace.id, link_number: String(one), clicks: 10, last_clicked: lastClicked }
  await correctClicks(platform, [correction])
  expect(await clicks()).toBe(13n)
})

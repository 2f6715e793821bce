import type { Scope } from '@tributary/contract/permissions'
import { expect, test } from 'vitest'
import { buildPartner, buildProgram, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { presentGroups } from './present.ts'

const platform = await openTestPlatform()

test("partners' e-mail addresses, pictures and countries need the scope partners.read", async () => {
  const workspace = await buildWorkspace(platform)
  await buildProgram(platform, workspace)
  const named = await buildPartner(platform, workspace, { name: 'Ada', email: 'ada@example.com', country: 'DE' })
  const unnamed = await buildPartner(platform, workspace, { name: 'bob@example.com', email: 'bob@example.com' })
  const counts = { name: 'partner_id', clicks: '1', leads: '0', sales: '0', saleAmount: '0' }
  const show = async (...scopes: Scope[]) => {
    const actor = { kind: 'key' as const, id: 'key', scopes }
    const groups = [named, unnamed].map(({ id }) => ({ ...counts, value: id }))
    const rows = await presentGroups({ ...contextIn(platform, workspace.id), actor }, 'top_partners', groups)
    return rows.map(({ partner }) => partner)
  }
  const nothing = { email: null, image: null, payoutsEnabledAt: null, country: null }
  expect(await show('analytics.read')).toEqual([
    { ...nothing, id: named.id, name: 'Ada' },
    { ...nothing, id: unnamed.id, name: unnamed.id },
  ])
  expect(await show('analytics.read', 'partners.read')).toEqual([
    { ...nothing, id: named.id, name: 'Ada', email: 'ada@example.com', country: 'DE' },
    { ...nothing, id: unnamed.id, name: 'bob@example.com', email: 'bob@example.com' },
  ])
})

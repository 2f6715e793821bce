import type { Scope } from '@tributary/contract/permissions'
import { expect, test } from 'vitest'
import { buildCustomer, buildLink, buildPartner, buildProgram, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { linkNumbers } from '../links/service.ts'
import { getCustomer, listCustomers } from './service.ts'

const platform = await openTestPlatform()

test("a partner's e-mail address and image in customers need the scope partners.read", async () => {
  const workspace = await buildWorkspace(platform)
  const ctx = contextIn(platform, workspace.id)
  await buildProgram(platform, workspace)
  const partner = await buildPartner(platform, workspace)
  const link = await buildLink(platform, workspace, { partnerId: partner.id })
  const [linkNumber] = await linkNumbers(ctx, { ids: [link.id] })
  const { id } = await buildCustomer(platform, workspace, {}, { clickId: 'c', linkNumber: linkNumber as bigint })
  const read = async (...scopes: Scope[]) => {
    const caller = { ...ctx, actor: { kind: 'key' as const, id: 'key', scopes } }
    const one = await getCustomer(caller, id, { includeExpandedFields: true })
    const [listed] = await listCustomers(caller, {
      includeExpandedFields: true,
      pageSize: 10,
      page: 1,
      sortBy: 'createdAt',
      sortOrder: 'asc',
    })
    expect(listed?.partner).toEqual(one.partner)
    return one.partner
  }
  const { name, email, image } = partner
  expect(email).not.toBeNull()
  expect(await read('customers.read')).toEqual({ id: partner.id, name, email: null, image: null })
  expect(await read('customers.read', 'partners.read')).toEqual({ id: partner.id, name, email, image })
})

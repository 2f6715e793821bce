import { includesScope, type Role, roleScopes, type Scope } from '@tributary/contract/permissions'
import { expect, test } from 'vitest'
import { accessScopes, isWithin, offeredTasks, scopeAccess, taskScopes } from './tasks.ts'

const offered = (role: Role) => offeredTasks((scope: Scope) => includesScope(roleScopes[role], scope))

test('nobody is offered a task with scopes that they lack', () => {
  expect(offered('owner')).toEqual(['links', 'report', 'convert', 'partners', 'read', 'all'])
  expect(offered('member')).toEqual(['links', 'report', 'read'])
  expect(offered('viewer')).toEqual(['report', 'read'])
})

test('scopes of single areas come back as they were chosen', () => {
  const access = scopeAccess(taskScopes('links'))
  expect(access).toMatchObject({ links: 'write', folders: 'read', webhooks: 'none' })
  expect(accessScopes(access).sort()).toEqual(taskScopes('links').sort())
})

test('a key can be narrowed, not widened', () => {
  expect(isWithin(['links.read'], ['links.write'])).toBe(true)
  expect(isWithin(['links.write'], ['links.read'])).toBe(false)
  expect(isWithin(['links.read', 'domains.read'], ['apis.read'])).toBe(true)
})

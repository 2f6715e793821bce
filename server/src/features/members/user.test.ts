import { describe, expect, test } from 'vitest'
import { buildMember, buildUser, buildWorkspace } from '../../../test/build.ts'
import { callAs, callWithKey } from '../../../test/session.ts'
import { openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()

describe('getUser', () => {
  test('200: returns the signed-in user with exactly its fields, in any role and without a workspace', async () => {
    const workspace = await buildWorkspace(platform)
    const member = await buildMember(platform, workspace, 'billing')
    for (const user of [await buildUser(platform), member]) {
      const { status, body } = await callAs(user)('GET', '/user')
      expect([status, body]).toEqual([200, { id: user.id, name: user.name, email: user.email, operator: false }])
    }
  })

  test('401, 403: fails without a session and for a key, which has no user', async () => {
    const { key } = await buildWorkspace(platform)
    expect((await callAs({ cookie: '' })('GET', '/user')).status).toBe(401)
    expect((await callWithKey(key)('GET', '/user')).status).toBe(403)
  })
})

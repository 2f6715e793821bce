import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'
import { buildUser, buildWorkspace } from '../../test/build.ts'
import { contextIn } from '../../test/context.ts'
import { openTestPlatform } from '../../test/stack.ts'
import { createInvites } from '../features/invites/service.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const environment = inject('environment')
const platform = await openTestPlatform()

test('`workspace create --owner` makes a user the owner, who is then the last one', async () => {
  const user = await buildUser(platform)
  const name = `w-${crypto.randomUUID().slice(0, 13)}`
  expect(await tributary('workspace', 'create', name, '--owner', user.email)).toMatchObject({ code: 0 })
  const list = await tributary('member', 'list', name, '--json')
  expect(JSON.parse(list.stdout)).toMatchObject([{ userId: user.id, email: user.email, role: 'owner' }])
  const removed = await tributary('member', 'remove', name, user.email)
  expect(removed).toMatchObject({ code: 1, stderr: expect.stringContaining('the last owner') })
  const unknown = await tributary('workspace', 'create', `${name}-2`, '--owner', 'nobody@example.com')
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('tributary user create') })
})

test('`member add` and `member remove` change the members', async () => {
  const [workspace, user] = [await buildWorkspace(platform), await buildUser(platform)]
  const added = await tributary('member', 'add', workspace.slug, user.email, '--role', 'viewer')
  expect(added.stdout).toBe(`Added ${user.email} to ${workspace.slug} as viewer.\n`)
  expect(await tributary('member', 'add', workspace.slug, user.email)).toMatchObject({ code: 1 })
  expect((await tributary('member', 'list', workspace.slug)).stdout).toContain(user.email)
  expect((await tributary('member', 'remove', workspace.slug, user.email)).code).toBe(0)
  expect((await tributary('member', 'list', workspace.slug)).stdout).toContain('No members yet')
})

test('`invite link` prints a link of an open invite', async () => {
  const { id } = await buildWorkspace(platform)
  const { invites } = await createInvites(contextIn(platform, id), { email: 'ada@example.com', role: 'member' })
  const { code, stdout } = await tributary('invite', 'link', invites[0]?.invite?.id ?? '')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^http\S+\/invite\?token=[A-Za-z0-9]{43}\nIt works once, for ada@example\.com, until /)
  expect(await tributary('invite', 'link', 'inv_none')).toMatchObject({ code: 1 })
})

async function tributary(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [main, ...words], { env: { ...process.env, ...environment } })
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number>((resolve) => child.on('exit', resolve)),
  ])
  return { code, stdout, stderr }
}

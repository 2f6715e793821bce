import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, inject, test, vi } from 'vitest'
import { buildMember, buildWorkspace } from '../../test/build.ts'
import { callWithKey } from '../../test/session.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { createToken } from '../features/tokens/service.ts'

// A long timeout, because starting a process is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 })
const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const platform = await openTestPlatform()
const workspace = await buildWorkspace(platform)

async function rotate(...words: string[]): Promise<{ stdout: string; stderr: string }> {
  const env = { PATH: process.env.PATH, ...inject('environment') }
  const child = spawn(process.execPath, [main, 'key', 'rotate', ...words], { env })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { stdout, stderr }
}

const newKey = (userId?: string) =>
  createToken(platform, {
    workspaceId: workspace.id,
    name: 'CI',
    scopes: ['links.read'],
    ...(userId !== undefined && { userId }),
  })
const statusWith = async (key: string) => (await callWithKey(key)('GET', '/links')).status

test('`key rotate` creates a key with the same name and scopes, and the old one works for the overlap', async () => {
  const old = await newKey()
  const { key, ...made } = JSON.parse((await rotate(old.id, '--overlap-hours', '1.5', '--json')).stdout)
  expect(made).toMatchObject({ name: 'CI', scopes: ['links.read'], expiresAt: '', replaces: { id: old.id } })
  const overlapMs = new Date(made.replaces.expiresAt).getTime() - Date.now()
  expect(overlapMs).toBeGreaterThan(80 * 60_000)
  expect(overlapMs).toBeLessThanOrEqual(90 * 60_000)
  expect([await statusWith(old.key), await statusWith(key)]).toEqual([200, 200])
  expect((await rotate(old.id)).stderr).toBe(
    `The key ${old.id} has been rotated: ${made.id} replaced it. Rotate that key.\n`,
  )
})

test('`key rotate --overlap-hours 0` revokes the old key', async () => {
  const old = await newKey()
  const { stdout } = await rotate(old.id, '--overlap-hours', '0', '--expires', '2036-01-31')
  const [key = '', ...explanation] = stdout.trimEnd().split('\n')
  expect(explanation).toEqual([
    "Store this key now: the server keeps only its hash and can't show it again.",
    `The old key ${old.key.slice(0, 8)}…${old.key.slice(-4)} is revoked.`,
  ])
  expect(await statusWith(key)).toBe(200)
  await eventually(async () => expect(await statusWith(old.key)).toBe(401), 2_000)
})

test('`key rotate` refuses unknown and personal keys and an overlap that is too long', async () => {
  const personal = await newKey((await buildMember(platform, workspace, 'member')).id)
  expect((await rotate('key_unknown')).stderr).toContain('There is no key key_unknown.')
  expect((await rotate(personal.id)).stderr).toContain('Only its owner may rotate a personal key.')
  expect((await rotate(personal.id, '--overlap-hours', '169')).stderr).toBe(
    '--overlap-hours 169 is not a number of hours from 0 to 168.\n',
  )
})

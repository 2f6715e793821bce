import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, test } from 'vitest'
import { buildWorkspace } from '../../test/build.ts'
import { contextIn } from '../../test/context.ts'
import { setZone } from '../../test/dns-server.ts'
import { openTestPlatform } from '../../test/stack.ts'
import { createDomain } from '../features/domains/add.ts'
import { getDomainRecords } from '../features/domains/service.ts'
import { newId } from '../platform/ids.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const environment = inject('environment')
const platform = await openTestPlatform()
const newName = () => `${newId('dom').slice(-12)}.example.com`

describe('tributary domain', () => {
  test('`domain list` shows every domain, as text and as JSON', async () => {
    const workspace = await buildWorkspace(platform)
    const ctx = contextIn(platform, workspace.id)
    const { id, slug } = await createDomain(ctx, { slug: newName(), archived: true })
    const [table, json] = await Promise.all([
      tributary('domain', 'list', workspace.slug),
      tributary('domain', 'list', workspace.id, '--json'),
    ])
    const [head, first, second] = table.stdout.split('\n')
    expect(head).toMatch(/^ID +SLUG +PRIMARY +VERIFIED +ARCHIVED$/)
    expect(first).toMatch(new RegExp(`^dom_\\S+ +${workspace.domain} +yes +yes +no$`))
    expect(second).toMatch(new RegExp(`^${id} +${slug} +no +no +yes$`))
    expect(JSON.parse(json.stdout)).toEqual([
      { id: expect.any(String), slug: workspace.domain, primary: true, verified: true, archived: false },
      { id, slug, primary: false, verified: false, archived: true },
    ])
  })

  test('`domain verify` queries DNS at once and prints the result', async () => {
    const workspace = await buildWorkspace(platform)
    const ctx = contextIn(platform, workspace.id)
    const { id, slug } = await createDomain(ctx, { slug: newName() })
    const before = await tributary('domain', 'verify', workspace.slug, slug)
    expect(before).toMatchObject({ code: 1, stderr: '' })
    expect(before.stdout).toMatch(new RegExp(`^${slug} is not verified: no TXT record _\\S+ yet; .+\\.\n$`))
    const [record] = (await getDomainRecords(ctx, slug)).records
    await setZone(inject('dns'), record?.name as string, [{ type: 'TXT', data: record?.value as string }])
    const after = await tributary('domain', 'verify', workspace.slug, slug.toUpperCase(), '--json')
    expect(after).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(after.stdout)).toEqual({ id, slug, primary: false, verified: true, result: 'verified by TXT' })
  })

  test('`domain verify --trust` skips DNS', async () => {
    const workspace = await buildWorkspace(platform)
    const { slug } = await createDomain(contextIn(platform, workspace.id), { slug: newName() })
    expect(await tributary('domain', 'verify', workspace.slug, slug, '--trust')).toEqual({
      code: 0,
      stdout: `${slug} is verified: verified by the operator.\n`,
      stderr: '',
    })
  })

  test('`domain remove` deletes the domain from the workspace', async () => {
    const workspace = await buildWorkspace(platform)
    const removed = await tributary('domain', 'remove', workspace.slug, workspace.domain, '--json')
    expect(removed).toEqual({ code: 0, stdout: `{"slug":"${workspace.domain}"}\n`, stderr: '' })
    const none = await tributary('domain', 'list', workspace.slug)
    expect(none.stdout).toBe(`No domains yet. Next: tributary domain add ${workspace.slug} <host name>\n`)
  })

  test('an unknown domain is reported', async () => {
    const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    const refusal = { code: 1, stdout: '', stderr: `There is no domain ${theirs.domain} in this workspace.\n` }
    expect(await tributary('domain', 'remove', ours.slug, theirs.domain)).toEqual(refusal)
    expect(await tributary('domain', 'verify', ours.slug, theirs.domain)).toEqual(refusal)
  })
})

async function tributary(...words: string[]) {
  const env = { PATH: process.env.PATH, ...environment }
  const child = spawn(process.execPath, [main, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 15_000 })
  const code = new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, stdout, stderr }
}

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { OperatorStatus } from '@tributary/contract/operator'
import { sql } from 'kysely'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { buildMember, buildUser, buildWorkspace } from '../../../test/build.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { openPerson } from '../../../test/person.ts'
import { callAs, callWithKey } from '../../../test/session.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { allowLoopback } from '../../../test/webhooks.ts'
import { setDisabled, setOperator } from '../auth/administration.ts'
import { createToken } from '../tokens/service.ts'
import { recordRelease, recordRun } from './service.ts'
import { selectRelease } from './store.ts'
import { checkForUpdate } from './update-check.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function buildOperator() {
  const user = await buildUser(platform)
  await setOperator(platform, user.email, true)
  return user
}

describe('getOperatorStatus', () => {
  it('200: an operator sees engines, processes, queues, disks and versions, without a workspace', async () => {
    const call = callAs(await buildOperator())
    // The processes of the test server report within 15 seconds.
    const status = await eventually(async () => {
      const { status, body } = await call('GET', '/operator/status')
      expect(status).toBe(200)
      const found = body as OperatorStatus
      expect(found.roles.map(({ role, state }) => `${role} ${state}`)).toEqual([
        'api good',
        'redirect good',
        'worker good',
      ])
      expect(found.queues.find(({ name }) => name === 'clicks')?.waiting).not.toBeNull()
      return found
    })
    expect(status.engines.map(({ name, state }) => `${name} ${state}`)).toEqual([
      ...['postgres good', 'nats good', 'clickhouse good', 'valkey good'],
    ])
    for (const { name, answers, version } of status.engines)
      expect([name, answers, version]).toEqual([name, true, expect.stringMatching(/^\d+\.\d+/)])
    expect(status.disks.length).toBeGreaterThan(0)
    expect(status.version).toMatchObject({ running: expect.stringMatching(/^\d+\.\d+\.\d+$/), fetches: false })
    expect(status.mail).toMatchObject({ configured: false, state: 'waiting' })
  })

  it('404: the owner of a workspace, a former operator and a disabled one see nothing', async () => {
    const workspace = await buildWorkspace(platform)
    const owner = await buildMember(platform, workspace, 'owner')
    const former = await buildOperator()
    await setOperator(platform, former.email, false)
    for (const call of [callAs(owner), callAs(owner, workspace.id), callAs(former)]) {
      const { status, body } = await call('GET', '/operator/status')
      expect(status).toBe(404)
      expect(body.error.message).toContain('There is no GET /operator/status')
      expect(Object.keys(body)).toEqual(['error'])
    }
    const disabled = await buildOperator()
    await setDisabled(platform, disabled.email, true)
    expect((await callAs(disabled)('GET', '/operator/status')).status).toBe(401)
  })

  it('403: a key gets nothing, not even one of an operator with every scope', async () => {
    const workspace = await buildWorkspace(platform)
    const owner = await buildMember(platform, workspace, 'owner')
    await setOperator(platform, owner.email, true)
    const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'mine', userId: owner.id })
    for (const one of [workspace.key, key]) {
      const { status, body } = await callWithKey(one)('GET', '/operator/status')
      expect(status).toBe(403)
      expect(Object.keys(body)).toEqual(['error'])
    }
    expect((await fetch(`${api}/operator/status`)).status).toBe(401)
  })

  it('nobody becomes an operator over HTTP', async () => {
    const workspace = await buildWorkspace(platform)
    const owner = await buildMember(platform, workspace, 'owner')
    const person = openPerson(api, owner.cookie)
    const fields = { isOperator: 'true', is_operator: 'true', operator: 'true' }
    await person.post('/account/name', { name: 'Eve', ...fields })
    const call = callAs(owner, workspace.id)
    await call('PATCH', `/members/${owner.id}`, { role: 'owner', ...fields })
    await call('PATCH', '/preferences', fields)
    await call('PATCH', '/user', fields)
    await person.post('/auth/update-user', fields)
    expect((await call('GET', '/user')).body).toMatchObject({ id: owner.id, operator: false })
    const rows = await sql`SELECT FROM users WHERE id = ${owner.id} AND is_operator`.execute(platform.db)
    expect(rows.rows).toHaveLength(0)
  })
})

describe('backups and versions', () => {
  it('the status has the last backup with its age, a failure since, and a newer version', async () => {
    const call = callAs(await buildOperator())
    const startedAt = new Date(Date.now() - 60_000)
    const details = { location: '/backups/monday', bytes: 1_000, encrypted: true }
    await recordRun(platform, 'backup', { startedAt, isSuccessful: true, details })
    await recordRun(platform, 'verify', { startedAt, isSuccessful: true, details: {} })
    const read = async () => (await call('GET', '/operator/status')).body as OperatorStatus
    expect((await read()).backups).toMatchObject({
      state: 'good',
      last: { location: '/backups/monday', bytes: 1_000, encrypted: true, startedAt: startedAt.toISOString() },
      lastFailure: null,
      lastVerify: { successful: true },
    })
    const problem = `disk full\n${'x'.repeat(2_000)}`
    await recordRun(platform, 'backup', {
      startedAt,
      isSuccessful: false,
      details: { location: '/backups/b', problem },
    })
    const { backups } = await read()
    expect(backups).toMatchObject({
      state: 'waiting',
      lastFailure: { problem: expect.stringContaining('disk full x') },
    })
    expect(backups.lastFailure?.problem?.length).toBe(500)
    await recordRelease(platform, { version: 'v99.0.0', url: 'https://example.com/notes' })
    expect((await read()).version).toMatchObject({ state: 'waiting', newest: '99.0.0', source: 'operator' })
    await sql`DELETE FROM known_release`.execute(platform.db)
  })

  it.each([[{ version: 'newest' }], [{ version: '1.2.3', url: 'javascript:alert(1)' }]])(
    '%j is not a release',
    async (release) => {
      await expect(recordRelease(platform, release)).rejects.toMatchObject({ code: 'unprocessable_entity' })
    },
  )
})

describe('UPDATE_CHECK_URL', () => {
  async function startSite(body: string) {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(request.headers['user-agent'] ?? '')
      response.end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked }
  }

  it('is fetched once a day by one of all processes, and never without the setting', async () => {
    const { url, asked } = await startSite('{"version":"99.1.0"}')
    const own = await openOwnDatabase({ UPDATE_CHECK_URL: url, ...allowLoopback })
    await checkForUpdate({ ...own, config: { ...own.config, UPDATE_CHECK_URL: undefined } })
    expect(asked).toEqual([])
    await Promise.all([own, own, own].map(checkForUpdate))
    await checkForUpdate(own)
    expect(asked).toEqual(['tributary'])
    expect(await selectRelease(own.db)).toMatchObject({ version: '99.1.0', source: 'fetched' })
    await recordRelease(own, { version: '99.2.0' })
    await checkForUpdate({ ...own, now: () => new Date(Date.now() + 86_400_000) })
    expect(asked).toHaveLength(2)
    expect(await selectRelease(own.db)).toMatchObject({ version: '99.2.0', source: 'operator' })
  })

  it('can not reach a private address that the operator has not allowed', async () => {
    const { url, asked } = await startSite('{"version":"99.1.0"}')
    const own = await openOwnDatabase({ UPDATE_CHECK_URL: url, OUTBOUND_ALLOWED_PORTS: '1-65535' })
    await expect(checkForUpdate(own)).rejects.toThrow('not public')
    expect(asked).toEqual([])
  })
})

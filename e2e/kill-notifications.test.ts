import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { SMTPServer } from 'smtp-server'
import { expect, inject, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { endInterruptedNotifications } from '../server/src/features/notifications/send.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { buildMember, buildWorkspace } from '../server/test/build.ts'
import { breakDomain } from '../server/test/notifications.ts'
import { startServer } from '../server/test/server-process.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'

const people = 40
const kills = 3

test(`kill -9 of workers that send ${people} notifications: nobody gets one twice, and only those in flight may be lost`, async () => {
  await using post = await startSlowMailServer()
  const database = await createDatabase(inject('environment').POSTGRES_URL as string, `notify_${Date.now()}`)
  const environment = { ...inject('environment'), POSTGRES_URL: database, SMTP_URL: post.url }
  const platform = await openTestPlatform(environment)
  await migrate(platform.config, platform.clickhouse, () => {})
  const workspace = await buildWorkspace(platform)
  for (let count = 0; count < people; count++) await buildMember(platform, workspace, 'owner')
  const since = new Date()
  const domainId = await breakDomain(platform, workspace, since)
  await sql`INSERT INTO notifications (workspace_id, user_id, kind, subject, occasion, due_at, created_at)
    SELECT workspace_id, user_id, 'domain_broken', ${domainId}, ${since.toISOString()}, now(), now()
    FROM members WHERE workspace_id = ${workspace.id}`.execute(platform.db)
  const start = () => startServer({ ...environment, ROLES: 'worker' })
  // A replacement starts in the background: the other worker would send everything meanwhile.
  const workers = [start(), start()]
  try {
    for (let kill = 0; kill < kills; kill++) {
      const before = post.received.length
      await eventually(async () => expect(post.received.length).toBeGreaterThan(before + 3), 120_000)
      const killed = await workers[kill % 2]
      killed?.kill('SIGKILL')
      workers[kill % 2] = start()
    }
    const count = async () => {
      const result = await sql<{ status: string; count: bigint }>`SELECT status, count(*) FROM notifications
        GROUP BY status`.execute(platform.db)
      return Object.fromEntries(result.rows.map(({ status, count }) => [status, Number(count)]))
    }
    await eventually(async () => {
      // As if the claims of the killed workers had ended. Claims of living ones end, too, and must not repeat anything.
      await sql`UPDATE notifications SET due_at = now() WHERE status = 'waiting'
        AND due_at < now() + interval '4 minutes 50 seconds'`.execute(platform.db)
      expect((await count()).waiting ?? 0).toBe(0)
    }, 240_000)
    await eventually(async () => {
      // As if a quarter of an hour had passed.
      await sql`UPDATE notifications SET attempted_at = now() - interval '16 minutes' WHERE status = 'sending'
        AND attempted_at < now() - interval '10 seconds'`.execute(platform.db)
      await endInterruptedNotifications(platform)
      expect((await count()).sending ?? 0).toBe(0)
    }, 240_000)
    const { sent = 0, unknown = 0, ...rest } = await count()
    expect(rest).toEqual({})
    expect(unknown).toBeLessThanOrEqual(kills)
    expect(new Set(post.received).size, 'sent twice').toBe(post.received.length)
    // The mail server may have those of an unknown outcome, or not.
    expect(post.received.length).toBeGreaterThanOrEqual(sent)
    expect(sent + unknown).toBe(people)
  } finally {
    await Promise.all(workers.map(async (worker) => (await worker).stop()))
  }
}, 600_000)

/** A mail server that takes its time to confirm what it has received, so that workers die in between. */
async function startSlowMailServer() {
  const received: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, { envelope }, done) {
      stream.resume()
      stream.on('end', () => {
        received.push(...envelope.rcptTo.map(({ address }) => address))
        setTimeout(done, 700)
      })
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    received,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

import { join } from 'node:path'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { requireNats } from '../engines/nats.ts'
import { freePort } from '../engines/port.ts'
import { canMount, openSmallDisk } from '../server/test/disk/small-disk.ts'
import { eventually } from '../server/test/stack.ts'
import { type Program, startProgram } from './test/program.ts'

const password = 'p0123456789abcdef'

async function openNats(store: string) {
  const [port, healthPort] = [await freePort(), await freePort()]
  const server = `127.0.0.1:${port}`
  const nats = await requireNats()
  const start = (): Promise<Program> =>
    startProgram({
      command: 'sh',
      args: ['deploy/nats/start.sh', nats, '--config', join(import.meta.dirname, 'nats/nats.conf')],
      env: {
        NATS_LISTEN: server,
        NATS_HEALTH_LISTEN: `127.0.0.1:${healthPort}`,
        NATS_STORE: store,
        NATS_PASSWORD: password,
        NATS_ASK_EVERY_SECONDS: '1',
      },
      answers: () => fetch(`http://127.0.0.1:${healthPort}/varz`),
    })
  return { start, connect: () => connect({ servers: server, user: 'tributary', pass: password }) }
}

const publish = (connection: NatsConnection) =>
  jetstream(connection).publish('events.0', 'x'.repeat(1_000), { timeout: 1_000 })

test.skipIf(!(await canMount()))('NATS recovers by itself when its full disk has space again', async () => {
  await using disk = await openSmallDisk(64)
  const nats = await openNats(disk.folder)
  const program = await nats.start()
  const connection = await nats.connect()
  await (await jetstreamManager(connection)).streams.add({ name: 'EVENTS', subjects: ['events.>'] })
  for (let count = 0; count < 10; count++) await publish(connection)
  await disk.fill()
  await eventually(() => expect(publish(connection)).rejects.toThrow(), 20_000)
  // NATS must not restart yet, because it would fail again.
  const early = await Promise.race([program.ended.then(() => 'ended'), new Promise((go) => setTimeout(go, 3_000))])
  expect(early).not.toBe('ended')
  await disk.free()
  await connection.close()
  await program.ended
  expect(program.output()).toContain('disk has space again')
  await using _again = await nats.start()
  const later = await nats.connect()
  const { seq } = await publish(later)
  expect(seq).toBeGreaterThan(10)
  await later.close()
})

test.skipIf(!(await canMount()))('SIGTERM stops NATS within seconds', async () => {
  await using disk = await openSmallDisk(64)
  const nats = await openNats(disk.folder)
  const program = await nats.start()
  const started = Date.now()
  await program[Symbol.asyncDispose]()
  expect(Date.now() - started).toBeLessThan(4_000)
  await expect(nats.connect()).rejects.toThrow()
})

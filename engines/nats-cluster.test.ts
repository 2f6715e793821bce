import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { startNatsCluster } from './nats-cluster.ts'

test('a stream with three replicas survives the loss of its leader, which can rejoin', async () => {
  const cluster = await startNatsCluster()
  const nats = await connect({
    servers: cluster.url.split(',').map((url) => new URL(url).host),
    reconnectTimeWait: 100,
  })
  try {
    const manager = await jetstreamManager(nats, { timeout: 20_000 })
    const { cluster: replicas } = await manager.streams.add({ name: 'LOG', subjects: ['log.>'], num_replicas: 3 })
    expect(replicas?.replicas).toHaveLength(2)
    await jetstream(nats, { timeout: 20_000 }).publish('log.before', 'kept')

    const leader = cluster.nodes.get(replicas?.leader ?? '')
    leader?.kill('SIGKILL')
    await expect
      .poll(
        () =>
          jetstream(nats)
            .publish('log.after')
            .catch(() => undefined),
        { timeout: 30_000 },
      )
      .toBeTruthy()
    expect((await manager.streams.getMessage('LOG', { seq: 1 }))?.string()).toBe('kept')
    expect((await manager.streams.info('LOG')).cluster?.leader).not.toBe(replicas?.leader)

    await leader?.restart()
    await expect
      .poll(async () => (await manager.streams.info('LOG')).cluster?.replicas?.every(({ current }) => current), {
        timeout: 20_000,
      })
      .toBe(true)
  } finally {
    await nats.close()
    await cluster.stop()
  }
})

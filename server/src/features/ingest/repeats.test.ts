import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { findRepeats, type Sighting } from './repeats.ts'

const { valkey } = await openTestPlatform()

function seen(id: string, position: string, isBot = false): Sighting {
  return { id, position, isBot }
}

describe('findRepeats', () => {
  test('the first click with an id is kept, and a later click at another log position is a repeat', async () => {
    const id = randomUUID()
    expect(await findRepeats(valkey, [seen(id, '0:1:0')])).toEqual([false])
    expect(await findRepeats(valkey, [seen(id, '0:2:0')])).toEqual([true])
    expect(await findRepeats(valkey, [seen(id, '0:1:1')])).toEqual([true])
  })

  test('a click at the same log position gets the same answer when a batch runs again', async () => {
    const [first, second] = [randomUUID(), randomUUID()]
    const batch = [seen(first, '0:1:0'), seen(second, '0:1:1'), seen(first, '0:2:0')]
    expect(await findRepeats(valkey, batch)).toEqual([false, false, true])
    expect(await findRepeats(valkey, batch)).toEqual([false, false, true])
    expect(await findRepeats(valkey, [seen(first, '0:3:0')])).toEqual([true])
  })

  test('the first click with an id inside one batch is kept', async () => {
    const [one, two] = [randomUUID(), randomUUID()]
    const batch = [seen(one, '0:1:0'), seen(two, '0:1:1'), seen(one, '0:1:2'), seen(one, '0:2:0'), seen(two, '0:2:1')]
    expect(await findRepeats(valkey, batch)).toEqual([false, false, true, true, true])
  })

  test('a prefetch or HEAD request does not make the visit that follows a repeat', async () => {
    const id = randomUUID()
    expect(await findRepeats(valkey, [seen(id, '0:1:0', true), seen(id, '0:1:1')])).toEqual([false, false])
    expect(await findRepeats(valkey, [seen(id, '0:2:0', true), seen(id, '0:2:1')])).toEqual([true, true])
  })

  test('clicks with other ids are not repeats', async () => {
    const ids = Array.from({ length: 500 }, () => randomUUID())
    const batch = ids.map((id, index) => seen(id, `0:1:${index}`))
    expect(await findRepeats(valkey, batch)).toEqual(ids.map(() => false))
  })

  test('an empty batch has no repeats', async () => {
    expect(await findRepeats(valkey, [])).toEqual([])
  })

  test('Valkey remembers a click id longer than its hour, but not forever', async () => {
    const id = randomUUID()
    await findRepeats(valkey, [seen(id, '0:1:0')])
    const left = await valkey.ttl(`visit:{0}:${id}`)
    expect(left).toBeGreaterThan(3_600)
    expect(left).toBeLessThanOrEqual(7_200)
  })
})

describe('without Valkey', async () => {
  const engines = await startEngines({ only: ['valkey'] })
  const platform = await openTestPlatform(engines.urls)
  afterAll(() => engines.stop())

  test.each([
    ['stopped', () => engines.processes.valkey?.stop()],
    ['hanging', () => engines.processes.valkey?.kill('SIGSTOP')],
  ])('%s: a worker recognizes repeats of clicks it read itself, and keeps all other clicks', async (_name, take) => {
    const [known, strange] = [randomUUID(), randomUUID()]
    await eventually(async () => expect(await findRepeats(platform.valkey, [seen(known, '0:1:0')])).toEqual([false]))
    await take()
    const batch = [seen(known, '0:2:0'), seen(strange, '0:2:1'), seen(strange, '0:2:2')]
    expect(await findRepeats(platform.valkey, batch)).toEqual([true, false, true])
    expect(await findRepeats(platform.valkey, batch)).toEqual([true, false, true])
    engines.processes.valkey?.kill('SIGCONT')
    await engines.processes.valkey?.restart()
    await eventually(() => platform.valkey.ping())
  })

  test('a full Valkey costs no time: a worker recognizes repeats of clicks it read itself', async () => {
    const id = randomUUID()
    await platform.valkey.config('SET', 'maxmemory-policy', 'noeviction')
    await platform.valkey.config('SET', 'maxmemory', '1')
    const since = performance.now()
    expect(await findRepeats(platform.valkey, [seen(id, '0:1:0'), seen(id, '0:2:0')])).toEqual([false, true])
    expect(performance.now() - since).toBeLessThan(2_000)
    await platform.valkey.config('SET', 'maxmemory', '0')
    expect(await findRepeats(platform.valkey, [seen(id, '0:3:0')])).toEqual([true])
  })

  test('one slow answer does not mark Valkey as down', async () => {
    const id = randomUUID()
    await findRepeats(valkey, [seen(id, '0:1:0')])
    const another = (await openTestPlatform()).valkey
    await eventually(async () => expect(another.status).toBe('ready'))
    let calls = 0
    const moody = new Proxy(another, {
      get: (target, name) => {
        if (name === 'eval' && ++calls < 3) return () => Promise.reject(new Error('Command timed out'))
        const value = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    expect(await findRepeats(moody, [seen(id, '0:2:0')])).toEqual([true])
  })
})

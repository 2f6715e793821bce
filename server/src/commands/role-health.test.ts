import { describe, expect, test } from 'vitest'
import { judgeReadiness, type ProcessHealth } from './role-health.ts'

const good = { ok: true, milliseconds: 1, needed: true }

function someProcess(role: string, slot = 0, changes: Partial<ProcessHealth> = {}): ProcessHealth {
  const engines = { postgres: good }
  return { role, slot, pid: 10 + slot, up: true, restarts: 0, ready: true, engines, silentMs: 0, ...changes }
}
const down = (silentMs: number): Partial<ProcessHealth> => ({
  pid: null,
  up: false,
  ready: false,
  engines: undefined,
  silentMs,
  problem: 'ended by SIGKILL, restarts after 250 ms',
})

describe('a role', () => {
  test('a role is ready while one of its processes is ready, and names the process that is down', () => {
    const { ready, roles } = judgeReadiness([someProcess('redirect'), someProcess('redirect', 1, down(60_000))])
    expect([ready, roles.redirect]).toEqual([
      true,
      { ready: true, problem: 'process 1: ended by SIGKILL, restarts after 250 ms' },
    ])
  })

  test.each([
    [9_000, true],
    [11_000, false],
  ])('a role whose only process has been down for %i ms counts as ready: %s', (silentMs, expected) => {
    const state = judgeReadiness([someProcess('api'), someProcess('worker', 0, down(silentMs))])
    expect(state.ready).toBe(expected)
    expect(state.roles.worker).toMatchObject({ ready: expected, problem: expect.stringContaining('ended by SIGKILL') })
    expect(state.roles.api).toEqual({ ready: true })
  })

  test('a role that was never up is not ready', () => {
    const { silentMs: _, ...starting } = someProcess('api', 0, { ...down(0), problem: 'the process is starting' })
    expect(judgeReadiness([starting])).toMatchObject({ ready: false, roles: { api: { ready: false } } })
  })

  test('a role whose process can not reach an engine is not ready, without delay', () => {
    const engines = { postgres: { ...good, ok: false, error: 'refused' } }
    const state = judgeReadiness([
      someProcess('api', 0, { ready: false, engines, problem: 'postgres does not answer' }),
      someProcess('redirect', 0, { engines: { postgres: { ...good, needed: false } } }),
    ])
    expect(state.ready).toBe(false)
    expect(state.engines.postgres).toEqual({ ok: false, milliseconds: 1, needed: true, error: 'refused' })
  })
})

test('the readiness of a single role ignores the others: a redirect is ready without an api', () => {
  const processes = [someProcess('api', 0, down(60_000)), someProcess('redirect')]
  expect(judgeReadiness(processes).ready).toBe(false)
  expect(judgeReadiness(processes, 'redirect').ready).toBe(true)
  expect(judgeReadiness(processes, 'api').ready).toBe(false)
  expect(judgeReadiness(processes, 'nonsense').ready).toBe(false)
})

test("readiness shows the worker's partitions once, without internal fields", () => {
  const partitions = { 0: { lagMessages: 0, lagSeconds: 0, owned: true } }
  const state = judgeReadiness([someProcess('api'), someProcess('worker', 0, { partitions })])
  expect(state.partitions).toEqual(partitions)
  for (const one of state.processes) {
    expect(one).not.toHaveProperty('silentMs')
    expect(one).not.toHaveProperty('partitions')
  }
})

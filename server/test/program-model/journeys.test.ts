import { inspect } from 'node:util'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import type { Platform } from '../../src/platform/context.ts'
import { openOwnDatabase } from '../own-database.ts'
import { sized } from '../size.ts'
import type { Outcome, PlayedPhase, Program, Step } from './journey.ts'
import { explainedEarnings } from './journey-explain.ts'
import { programs } from './journey-generate.ts'
import { playProgram } from './journey-model.ts'
import { readOutcomes } from './journey-read.ts'
import { runPhase } from './journey-run.ts'
import { shrinkProgram } from './journey-shrink.ts'
import { freeTimes } from './journey-store.ts'
import { buildWorlds } from './journey-world.ts'

const journeyCount = sized({ short: 200, full: 20_000 })
const journeysPerProgram = 50
/** An engine decides for all workspaces of its database, so that programs run one after the other in each lane's own. */
const laneCount = sized({ short: 2, full: 4 })
const rules = { hasMoveRules: true, hasEditsInBacklog: true }
const nothing: Step = { kind: 'nothing' }
const seed = Number(process.env.JOURNEY_SEED ?? Date.now() % 1_000_000_000)
vi.setConfig({ testTimeout: 14_400_000, hookTimeout: 600_000 })

const lanes = await Promise.all(Array.from({ length: laneCount }, () => openOwnDatabase({ POSTGRES_POOL: '4' })))
for (const lane of lanes) await freeTimes(lane)

test(`${journeyCount} journeys end as in the plain model, to the cent, and so do their explanations`, async () => {
  const startedAt = performance.now()
  const seen = new Map<string, number>()
  const queue = generate()
  await Promise.all(
    lanes.map(async (platform) => {
      for (const program of queue) await checkOrShrink(platform, program, seen)
    }),
  )
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  console.info(`${journeyCount} journeys in ${seconds} s, seed ${seed}:`, Object.fromEntries([...seen].sort()))
  const common = [
    'earns',
    'capped',
    'window_over',
    'zero',
    'no_reward',
    'not_enrolled',
    'duplicate_lead',
    'no_commission',
  ]
  expect([...seen.keys()]).toEqual(expect.arrayContaining(common))
})

test('a backlog earns what event by event would have earned, when only events and terms change', () => {
  const kinds = ['sale', 'lead', 'refund', 'reward', 'endReward']
  const soon = { months: 0, days: 1, ms: 0 }
  const property = fc.property(programs(rules, 3), ({ phases, journeys, ...program }) => {
    const plain = {
      ...program,
      phases: phases.map(({ wait, isDecided }) => ({
        wait: 'to' in wait ? soon : wait,
        isDecided: isDecided && program.pattern === 'backlog',
        isMatured: false,
      })),
      journeys: journeys.map(({ steps, ...journey }) => {
        return { ...journey, steps: steps.map((step) => (kinds.includes(step.kind) ? step : nothing)) }
      }),
    }
    const [each, backlog] = (['each', 'backlog'] as const).map((pattern) => playProgram({ ...plain, pattern }).outcomes)
    expect(backlog).toEqual(each)
  })
  fc.assert(property, { numRuns: sized({ short: 200, full: 2_000 }), seed })
})

/** All programs of the run, some at a time, because they take much memory. */
function* generate(): Generator<Program> {
  const programCount = journeyCount / journeysPerProgram
  const atOnce = 4
  for (let made = 0; made < programCount; made += atOnce) {
    yield* fc.sample(programs(rules, journeysPerProgram), { numRuns: atOnce, seed: seed + made })
  }
}

/** Makes a counterexample as small as it gets, and fails with it. */
async function checkOrShrink(platform: Platform, program: Program, seen: Map<string, number>): Promise<void> {
  const failure = (program: Program) =>
    check(platform, program, new Map()).then(
      () => undefined,
      (error) => error,
    )
  await check(platform, program, seen).catch(async (cause) => {
    if ((await failure(program)) === undefined) {
      throw new Error(`A program failed once and passed when it was repeated (seed ${seed}).`, { cause })
    }
    const smallest = await shrinkProgram(program, async (smaller) => (await failure(smaller)) !== undefined)
    const text = inspect(smallest, { depth: 12, breakLength: 120 })
    throw new Error(`Model and product differ (seed ${seed}) in ${text}`, { cause: await failure(smallest) })
  })
}

async function check(platform: Platform, program: Program, seen: Map<string, number>): Promise<void> {
  const { phases, outcomes } = playProgram(program)
  const worlds = await buildWorlds(platform, program)
  for (const phase of phases) await runPhase(worlds, phase)
  const found = await readOutcomes(worlds)
  expect(found.map(({ outcome }) => outcome)).toEqual(outcomes)
  for (const { stored } of found) {
    for (const commission of stored.values()) expect(explainedEarnings(commission)).toBe(commission.earnings)
  }
  countAll(seen, phases, outcomes)
}

/** Counts what happened, so that a run shows how often each rule was met. */
function countAll(seen: Map<string, number>, phases: PlayedPhase[], outcomes: Outcome[]): void {
  const count = (name: string) => seen.set(name, (seen.get(name) ?? 0) + 1)
  for (const { steps } of phases) {
    for (const step of steps) if (step) count(step.isRefused ? `${step.kind} refused` : step.kind)
  }
  for (const { commissions, reasons } of outcomes) {
    for (const reason of reasons) count(reason ?? 'earns')
    for (const { type, status } of Object.values(commissions)) count(`${type} ${status}`)
  }
}

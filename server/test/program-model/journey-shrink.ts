import type { Journey, Program } from './journey.ts'

/** Makes a failing program smaller for as long as it fails: first one journey, then fewer steps, phases and terms. */
export async function shrinkProgram(program: Program, fails: (smaller: Program) => Promise<boolean>): Promise<Program> {
  for (const smaller of smallerPrograms(program)) {
    if (JSON.stringify(smaller).length >= JSON.stringify(program).length) continue
    if (await fails(smaller)) return shrinkProgram(smaller, fails)
  }
  return program
}

function* smallerPrograms(program: Program): Generator<Program> {
  const { journeys, phases } = program
  if (journeys.length > 1) {
    for (const journey of journeys) yield { ...program, journeys: [journey] }
    return
  }
  const [journey] = journeys as [Journey]
  const half = Math.floor(phases.length / 2)
  for (const count of half > 1 ? [half, 1] : [1]) {
    for (let at = 0; at + count <= phases.length; at += count) yield withoutPhases(program, journey, at, count)
  }
  for (const smaller of smallerJourneys(journey)) yield { ...program, journeys: [smaller] }
  const wait = { months: 0, days: 0, ms: 0 }
  for (const at of phases.keys()) yield { ...program, phases: phases.with(at, { ...phases[at], wait } as never) }
  yield { ...program, workspaceCurrency: 'usd', programCurrency: 'usd', startsAt: '2024-01-01T00:00:00Z' }
}

function withoutPhases(program: Program, journey: Journey, at: number, count: number): Program {
  const phases = program.phases.toSpliced(at, count)
  return { ...program, phases, journeys: [{ ...journey, steps: journey.steps.toSpliced(at, count) }] }
}

function* smallerJourneys(journey: Journey): Generator<Journey> {
  const { steps, opening, customers, partners } = journey
  for (const at of steps.keys()) yield { ...journey, steps: steps.with(at, { kind: 'nothing' }) }
  for (const at of opening.keys()) yield { ...journey, opening: opening.toSpliced(at, 1) }
  for (const at of opening.keys()) {
    for (const terms of smallerTerms(opening[at]?.terms ?? {})) {
      yield { ...journey, opening: opening.with(at, { ...opening[at], terms } as never) }
    }
  }
  for (const [at, step] of steps.entries()) {
    if ('metadata' in step) yield { ...journey, steps: steps.with(at, { ...step, metadata: null }) }
    if (step.kind !== 'reward') continue
    for (const terms of smallerTerms(step.terms))
      yield { ...journey, steps: steps.with(at, { ...step, terms } as never) }
  }
  if (customers.length > 1) yield { ...journey, customers: customers.slice(0, 1) }
  if (partners.length > 1) yield { ...journey, partners: partners.slice(0, 1) }
}

function* smallerTerms(terms: { modifiers?: unknown[]; spendLimitAmount?: unknown }): Generator<object> {
  const { spendLimitAmount: _, ...rest } = terms
  const limit = { spendLimitInterval: undefined, spendLimitScope: undefined }
  for (const at of (terms.modifiers ?? []).keys()) yield { ...terms, modifiers: terms.modifiers?.toSpliced(at, 1) }
  if (terms.spendLimitAmount != null) yield { ...rest, ...limit }
}

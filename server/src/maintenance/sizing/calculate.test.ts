import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Basis, type FactName, readBasis } from './basis.ts'
import { calculateSizing, type Sizing } from './calculate.ts'
import { completeDemand, type Demand } from './demand.ts'
import { readFigures } from './figures.ts'

const figures = readFigures()
const basis = readBasis(figures)

const amount = (least: number, most: number) =>
  fc
    .double({ min: Math.log(least), max: Math.log(most), noNaN: true })
    .map((power) => Math.min(most, Math.max(least, Math.exp(power))))
const demands = fc
  .record({
    clicksPerDay: amount(1, 1e10),
    links: amount(1, 1e11),
    years: fc.constantFrom(0.5, 1, 2, 5),
    peakFactor: fc.constantFrom(1, 3, 5, 20),
    regions: fc.integer({ min: 1, max: 5 }),
    replicas: fc.integer({ min: 1, max: 3 }),
    layout: fc.constantFrom('auto', 'separate'),
  })
  .map((given) => completeDemand(given as Pick<Demand, 'clicksPerDay' | 'links'>))

const countMachines = ({ machines }: Sizing) => machines.reduce((sum, { machines }) => sum + machines, 0)
const countCores = ({ machines }: Sizing) => machines.reduce((sum, { machines, cores }) => sum + machines * cores, 0)
const countBytes = ({ disks }: Sizing) => disks.reduce((sum, { bytes }) => sum + bytes, 0)
const scale = (demand: Demand, factor: number): Demand => completeDemand({ ...demand, ...scaled(demand, factor) })

function scaled({ clicksPerDay, conversionsPerDay, screensPerSecond }: Demand, factor: number) {
  return {
    clicksPerDay: clicksPerDay * factor,
    conversionsPerDay: conversionsPerDay * factor,
    screensPerSecond: screensPerSecond * factor,
  }
}

describe('for any demand', () => {
  test('more clicks never need fewer machines of any role, nor less disk', () => {
    fc.assert(
      fc.property(demands, fc.double({ min: 1, max: 50, noNaN: true }), (demand, factor) => {
        const [less, more] = [calculateSizing(demand, basis), calculateSizing(scale(demand, factor), basis)]
        expect(countMachines(more)).toBeGreaterThanOrEqual(countMachines(less))
        expect(countBytes(more)).toBeGreaterThanOrEqual(countBytes(less))
        for (const [index, { role, machines }] of more.layout === less.layout ? less.machines.entries() : [])
          expect(more.machines[index], role).toMatchObject({ role, machines: expect.toSatisfy((n) => n >= machines) })
      }),
      { numRuns: 1_000 },
    )
  })

  test('twice the clicks need at most twice the machines, cores and disk, as far as whole machines allow', () => {
    fc.assert(
      fc.property(demands, (demand) => {
        const separate = { ...demand, layout: 'separate' as const }
        const [once, twice] = [calculateSizing(separate, basis), calculateSizing(scale(separate, 2), basis)]
        expect(countMachines(twice)).toBeLessThanOrEqual(2 * countMachines(once))
        // A machine has an even number of cores, so each may have two more than its share.
        expect(countCores(twice)).toBeLessThanOrEqual(2 * countCores(once) + 2 * countMachines(twice))
        expect(countBytes(twice)).toBeLessThanOrEqual(2 * countBytes(once) + once.disks.length)
      }),
      { numRuns: 1_000 },
    )
  })

  test('counts are whole and every number names its figure', () => {
    fc.assert(
      fc.property(demands, (demand) => {
        const { machines, disks } = calculateSizing(demand, basis)
        for (const machine of machines) {
          for (const n of [machine.machines, machine.cores, machine.memoryGb])
            expect(Number.isInteger(n) && n > 0).toBe(true)
          expect(machine.from.every((name) => basis[name].source !== '')).toBe(true)
          expect(machine.why).not.toBe('')
        }
        for (const { bytes, from } of disks) expect([Number.isInteger(bytes), from.length > 0]).toEqual([true, true])
      }),
      { numRuns: 300 },
    )
  })

  test('every role has the cores for the peak at half load', () => {
    fc.assert(
      fc.property(demands, (given) => {
        const demand = { ...given, layout: 'separate' as const }
        const clicks = (demand.clicksPerDay / 86_400) * demand.peakFactor
        const { machines } = calculateSizing(demand, basis)
        const cores = (role: string) => {
          const found = machines.find((machine) => machine.role === role)
          return (found?.machines ?? 0) * (found?.cores ?? 0)
        }
        expect(cores('redirect')).toBeGreaterThanOrEqual((clicks * 4) / basis.redirectsPerSecond.value - 1e-6)
        expect(cores('worker')).toBeGreaterThanOrEqual((clicks * 4) / basis.ingestPerSecond.value - 1e-6)
      }),
    )
  })
})

test('10 thousand clicks a day fit the smallest server', () => {
  const { machines, layout } = calculateSizing(completeDemand({ clicksPerDay: 10_000, links: 5_000 }), basis)
  expect(layout).toBe('one')
  expect(machines).toEqual([expect.objectContaining({ machines: 1, cores: 2, memoryGb: 4 })])
})

test('360 million clicks a day need tens of machines, and 40 billion links a design that is not built', () => {
  const demand = completeDemand({ clicksPerDay: 360e6, links: 360e6, years: 2 })
  const within = calculateSizing(demand, basis)
  expect(within.peakClicksPerSecond).toBe(20_834)
  expect(within.machines.map(({ role }) => role)).toEqual([
    ...['Caddy', 'redirect', 'api', 'worker', 'NATS', 'PostgreSQL', 'Valkey', 'ClickHouse'],
  ])
  expect(countMachines(within)).toBeGreaterThan(15)
  expect(countMachines(within)).toBeLessThan(80)
  expect(within.cautions.join()).not.toContain('NOT BUILT')

  const beyond = calculateSizing(completeDemand({ ...demand, links: 40e9 }), basis)
  expect(beyond.machines).toContainEqual(expect.objectContaining({ role: 'PostgreSQL for links', machines: 78 }))
  expect(beyond.cautions[0]).toMatch(
    /^NOT BUILT: 40G links .+ 40 PostgreSQL servers .+0043-links-beyond-one-postgresql\.md\.$/,
  )
})

test('a machine in each region remains when another region fails', () => {
  const demand = completeDemand({ clicksPerDay: 5e9, links: 1e6, layout: 'separate' })
  const redirects = (regions: number) =>
    calculateSizing({ ...demand, regions }, basis).machines.find(({ role }) => role === 'redirect')?.machines ?? 0
  expect(redirects(2)).toBe(2 * redirects(1))
  expect(redirects(3)).toBeLessThan(redirects(2))
  expect(redirects(3) % 3).toBe(0)
})

test.each<[FactName, string]>([
  ['redirectsPerSecond', 'redirect'],
  ['ingestPerSecond', 'worker'],
])('a bench that measures half of %s needs more machines for %s', (name, role) => {
  const demand = completeDemand({ clicksPerDay: 5e9, links: 1e6, layout: 'separate' })
  const slower: Basis = { ...basis, [name]: { ...basis[name], value: basis[name].value / 2 } }
  const machines = (by: Basis) =>
    calculateSizing(demand, by).machines.find((machine) => machine.role === role)?.machines
  expect(machines(slower)).toBeGreaterThan(machines(basis) ?? Number.POSITIVE_INFINITY)
})

test('a figure that no bench measured is named with its command', () => {
  const { redirect: _, ...rest } = figures
  expect(() => readBasis(rest)).toThrow(/no req\/s of ack in redirect\. Run: npm run bench:redirect -- --keep$/)
  const table = { title: 'redirect', columns: ['req/s'], rows: [['ack', 'failed']] }
  const broken = { ...figures, redirect: { date: '2026-01-01', machine: '2 cores', tables: [table] } }
  expect(() => readBasis(broken)).toThrow('req/s of ack in redirect is "failed" in figures.json: not a number above 0.')
})

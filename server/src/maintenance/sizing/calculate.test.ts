import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Basis, type FactName, readBasis } from './basis.ts'
import { calculateSizing, type Sizing } from './calculate.ts'
import { completeDemand, type Demand } from './demand.ts'
import type { Disk } from './disks.ts'
import { readFigures } from './figures.ts'
import type { Machine } from './machines.ts'

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
const findDisk = (disks: Disk[], name: string) => disks.find((disk) => disk.name === name) as Disk
const findMachine = ({ machines }: Sizing, role: string) => machines.find((machine) => machine.role === role) as Machine
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

  test('EVENT_LOG_MAX_MEGABYTES fits the disk of NATS, and its share for clicks has all days of the log', () => {
    fc.assert(
      fc.property(demands, (demand) => {
        const { disks, settings } = calculateSizing(demand, basis)
        const settingBytes = Number(settings.EVENT_LOG_MAX_MEGABYTES ?? 18_432) * 2 ** 20
        const clickBytes = demand.clicksPerDay * demand.logDays * basis.logBytes.value
        expect(settingBytes).toBeLessThanOrEqual(findDisk(disks, 'event log').bytesPerCopy)
        expect(settingBytes * (27 / 32) * 0.8).toBeGreaterThanOrEqual(clickBytes * (1 - 1e-9))
      }),
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

test('a larger event log is printed with the limit of NATS that must be raised first', () => {
  const { settings, cautions } = calculateSizing(completeDemand({ clicksPerDay: 10e6, links: 1e6 }), basis)
  expect(Number(settings.EVENT_LOG_MAX_MEGABYTES)).toBeGreaterThan(18_432)
  const caution =
    "Raise max_file_store in NATS's configuration above EVENT_LOG_MAX_MEGABYTES first: otherwise each process halves the setting until it fits."
  expect(cautions).toContain(caution)
  const small = calculateSizing(completeDemand({ clicksPerDay: 10_000, links: 5_000 }), basis)
  expect(small.settings).not.toHaveProperty('EVENT_LOG_MAX_MEGABYTES')
  expect(small.cautions).not.toContain(caution)
})

test('backups grow with the conversions', () => {
  const demand = completeDemand({ clicksPerDay: 1e6, links: 1e6 })
  const [few, many] = [0, 1e6].map((conversionsPerDay) =>
    findDisk(calculateSizing({ ...demand, conversionsPerDay }, basis).disks, 'backups'),
  )
  const { value } = basis.backupConversionBytes
  expect(value).toBe(Math.round((basis.conversionBytes.value * basis.backupLinkBytes.value) / basis.linkBytes.value))
  expect((many?.bytesPerCopy ?? 0) - (few?.bytesPerCopy ?? 0)).toBe(365e6 * value)
})

test('CLICKHOUSE_CLUSTER is only for several machines with ClickHouse, with what it needs', () => {
  const demand = completeDemand({ clicksPerDay: 1e6, links: 1e6, layout: 'separate' })
  const caution = /^CLICKHOUSE_CLUSTER needs ClickHouse Keeper/m
  const [one, two] = [1, 2].map((replicas) => calculateSizing({ ...demand, replicas }, basis))
  expect(one?.settings).not.toHaveProperty('CLICKHOUSE_CLUSTER')
  expect(one?.cautions.join('\n')).not.toMatch(caution)
  expect(two?.settings).toMatchObject({ CLICKHOUSE_CLUSTER: 'tributary' })
  expect(two?.cautions.join('\n')).toMatch(caution)
})

test('an engine in several groups shows the work of one of them', () => {
  const demand = completeDemand({ clicksPerDay: 360e6, links: 40e9, years: 2 })
  const sizing = calculateSizing(demand, basis)
  expect(findMachine(sizing, 'PostgreSQL for links').why).toMatch(
    /^521 clicks\/s .+ 521 lookups\/s .+ 79\.3 new links\/s/,
  )
  for (const { role, cores, why } of sizing.machines.filter(({ role }) => ['NATS', 'ClickHouse'].includes(role))) {
    const work = [...why.matchAll(/([\d.]+)(k?) [\w ]+\/s × ([\d.]+) (µs|ms)/g)].map(
      ([, count, k, cost, unit]) => Number(count) * (k ? 1e3 : 1) * Number(cost) * (unit === 'ms' ? 1e-3 : 1e-6),
    )
    expect(cores, role).toBeLessThanOrEqual(Math.max(4, 2 * work.reduce((sum, value) => sum + value, 0) * 1.02 + 2))
  }
})

test('each lever of a cost driver makes it smaller', () => {
  const given = { clicksPerDay: 360e6, links: 40e9, years: 2, regions: 1, replicas: 2, backups: 4, logDays: 30 }
  const demands = [
    completeDemand(given),
    completeDemand({ ...given, links: 1e9, conversionsPerDay: 50e6, layout: 'separate' }),
  ]
  demands.push(
    completeDemand({ ...given, links: 1e6, layout: 'one' }),
    completeDemand({ clicksPerDay: 10_000, links: 5_000, backups: 4 }),
  )
  for (const demand of demands) {
    const { disks, machines, drivers } = calculateSizing(demand, basis)
    const sizes = (sizing: Pick<Sizing, 'disks' | 'machines'>) =>
      Object.fromEntries([
        ...sizing.disks.map(({ name, bytes }) => [`disk for ${name}`, bytes]),
        ...sizing.machines.map(({ role, machines, cores }) => [`cores for ${role}`, machines * cores]),
      ]) as Record<string, number>
    const before = sizes({ disks, machines })
    for (const { name, change = '' } of drivers) {
      for (const [, option = ''] of change.matchAll(/--([a-z-]+)/g)) {
        const field = option.replaceAll(/-[a-z]/g, (part) => part.slice(1).toUpperCase()) as 'clicksPerDay'
        const factor = option === 'links-per-postgresql' ? 10 : 0.5
        const after = sizes(calculateSizing({ ...demand, [field]: demand[field] * factor }, basis))
        expect(after[name] ?? 0, `${name} with --${option}`).toBeLessThan(before[name] ?? 0)
      }
    }
  }
})

test('Valkey is one group with a machine for each region, and more visits than fit are not built', () => {
  const demand = completeDemand({ clicksPerDay: 360e6, links: 1e6 })
  const inRegions = (regions: number) => findMachine(calculateSizing({ ...demand, regions }, basis), 'Valkey').machines
  expect([1, 2, 3].map(inRegions)).toEqual([2, 2, 3])
  expect(calculateSizing(demand, basis).cautions.join()).not.toContain('Valkey')
  const larger = calculateSizing({ ...demand, clicksPerDay: 3_600e6 }, basis)
  expect(findMachine(larger, 'Valkey').machines).toBe(2)
  expect(larger.cautions.join('\n')).toMatch(
    /^NOT BUILT: visits need 4\d\d GB in one Valkey; several are not supported\.$/m,
  )
})

test('one machine has one region', () => {
  const demand = completeDemand({ clicksPerDay: 1e6, links: 1e6, layout: 'one', regions: 3 })
  expect(() => calculateSizing(demand, basis)).toThrow(
    '--layout one has one region. Leave out --regions, or use --layout separate.',
  )
})

test('more clicks than analytics were measured with are a limit', () => {
  const limit = (clicksPerDay: number) =>
    calculateSizing(completeDemand({ clicksPerDay, links: 1 }), basis).cautions.filter((text) => /screens/.test(text))
  expect(limit(100_000)).toEqual([])
  expect(limit(1e6)).toEqual([
    'Analytics screens were measured with 50M clicks (npm run bench:reading), not with 365M.',
  ])
})

import { ConfigError } from '../../platform/config.ts'
import { optionName, shorten } from './quantity.ts'

export const layouts = ['auto', 'one', 'separate'] as const

/** What an installation has to carry. Counts are at the end of the years. */
export type Demand = {
  clicksPerDay: number
  links: number
  years: number
  peakFactor: number
  conversionsPerDay: number
  linksPerDay: number
  screensPerSecond: number
  logDays: number
  regions: number
  replicas: number
  backups: number
  linksPerPostgresql: number
  layout: (typeof layouts)[number]
}

type Limits = { least: number; most: number; isWhole?: true }
const limits: Record<Exclude<keyof Demand, 'layout'>, Limits> = {
  clicksPerDay: { least: 1, most: 1e12 },
  links: { least: 1, most: 1e12 },
  years: { least: 0.1, most: 20 },
  peakFactor: { least: 1, most: 100 },
  conversionsPerDay: { least: 0, most: 1e12 },
  linksPerDay: { least: 0, most: 1e12 },
  screensPerSecond: { least: 0, most: 1e6 },
  logDays: { least: 1, most: 365 },
  regions: { least: 1, most: 50, isWhole: true },
  replicas: { least: 1, most: 5, isWhole: true },
  backups: { least: 0, most: 1_000, isWhole: true },
  linksPerPostgresql: { least: 1e6, most: 1e11 },
}

type Given = Pick<Demand, 'clicksPerDay' | 'links'> & Partial<Demand>

/** Adds what was not given: one conversion for 100 clicks, one screen a second for 10 million clicks a day, links made evenly. */
export function completeDemand(given: Given): Demand {
  const { clicksPerDay, links, years = 1 } = given
  return {
    years,
    peakFactor: 5,
    conversionsPerDay: clicksPerDay / 100,
    linksPerDay: links / (365 * years),
    screensPerSecond: Math.max(0.1, clicksPerDay / 10_000_000),
    logDays: 7,
    regions: 1,
    replicas: 2,
    backups: 2,
    linksPerPostgresql: 1e9,
    layout: 'auto',
    ...given,
  }
}

/** Throws if a number is outside its limits, or if one machine has several regions; the error names the option. */
export function checkDemand(demand: Demand): void {
  for (const [name, { least, most, isWhole }] of Object.entries(limits)) {
    const value = demand[name as keyof typeof limits]
    const problem = `${optionName(name)} is ${value.toLocaleString('en-US')}`
    if (!(value >= least && value <= most) || (isWhole && !Number.isInteger(value)))
      throw new ConfigError(
        `${problem}. Give a ${isWhole ? 'whole number' : 'number'} from ${shorten(least)} to ${shorten(most)}.`,
      )
  }
  if (demand.layout === 'one' && demand.regions > 1)
    throw new ConfigError('--layout one has one region. Leave out --regions, or use --layout separate.')
}

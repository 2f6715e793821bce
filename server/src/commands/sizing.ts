import { defineCommand } from 'citty'
import { readBasis } from '../maintenance/sizing/basis.ts'
import { calculateSizing } from '../maintenance/sizing/calculate.ts'
import { completeDemand, type Demand, layouts } from '../maintenance/sizing/demand.ts'
import { readFigures } from '../maintenance/sizing/figures.ts'
import { parseQuantity } from '../maintenance/sizing/quantity.ts'
import { jsonFlag, print, reportProblems } from './run.ts'
import { formatSizing } from './sizing-text.ts'

const option = (description: string) => ({ type: 'string', description }) as const
const quantities = {
  'clicks-per-day': { ...option('Clicks a day, such as 360M (k, M, G and T are accepted everywhere)'), required: true },
  links: { ...option('Links in all, at the end of --years'), required: true },
  years: option('Years for which clicks are stored (1)'),
  'peak-factor': option('Clicks a second at the peak, as a multiple of the mean (5)'),
  'conversions-per-day': option('Leads and sales a day (1 % of the clicks)'),
  'links-per-day': option('Links created a day (all links, evenly over the years)'),
  'screens-per-second': option('Analytics screens a second (1 for 10M clicks a day)'),
  'log-days': option('Days that clicks stay in the event log (7)'),
  regions: option('Regions with redirects and Caddy (1)'),
  replicas: option('Copies of ClickHouse (2)'),
  backups: option('Backups that are stored at a time (2)'),
  'links-per-postgresql': option('Most links in one PostgreSQL (1G)'),
} as const

export const sizing = defineCommand({
  meta: {
    name: 'sizing',
    description: 'Calculate machines, disks and cost drivers from measured figures; needs no settings and no databases',
  },
  args: {
    ...quantities,
    layout: {
      type: 'enum',
      options: [...layouts],
      description: 'One machine, separate ones, or as it fits',
      default: 'auto',
    },
    ...jsonFlag,
  },
  run: ({ args }) =>
    reportProblems(async () => {
      const basis = readBasis(readFigures())
      const demand = completeDemand({ ...readQuantities(args), layout: args.layout as Demand['layout'] })
      const sizing = calculateSizing(demand, basis)
      print(args.json, { ...sizing, basis }, formatSizing(sizing, basis))
    }),
})

type Quantities = Pick<Demand, 'clicksPerDay' | 'links'> & Partial<Demand>

function readQuantities(args: Record<string, unknown>): Quantities {
  const given = Object.keys(quantities).flatMap((name) => {
    const text = args[name]
    if (text === undefined) return []
    const field = name.replaceAll(/-[a-z]/g, (part) => part.slice(1).toUpperCase())
    return [[field, parseQuantity(field, String(text))]]
  })
  return Object.fromEntries(given) as Quantities
}

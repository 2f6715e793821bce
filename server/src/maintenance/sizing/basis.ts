import { ConfigError } from '../../platform/config.ts'
import { type Figures, findFigure } from './figures.ts'

/** A number that the sizing starts from, and where it comes from. */
export type Fact = { value: number; text: string; source: string }

/** Measured numbers: bench, row and column of bench/figures.json, a text in which `#` is the number, and the table's title if others have both. */
const measured = {
  redirectsPerSecond: ['redirect', 'ack', 'req/s', '# redirects/s, each click on disk before its response'],
  ingestPerSecond: [
    'ingest',
    'log → steps → rows, rollups and counters',
    'rows/s',
    '# clicks/s from the log to rows, rollups and counters',
  ],
  pipelinePerSecond: [
    'pipeline',
    'ack',
    'clicks/s',
    '# clicks/s from redirect to rows and counters, everything on one machine',
  ],
  linksPerSecond: ['peers', 'Tributary', 'a second', '# links/s created by POST /links', 'links created'],
  leadApiMs: ['conversions', 'POST /track/lead', 'CPU ms of the API', '# ms of a core in the API for a lead'],
  leadPostgresMs: [
    'conversions',
    'POST /track/lead',
    'CPU ms of PostgreSQL',
    '# ms of a core in PostgreSQL for a lead',
  ],
  screenMs: ['reading', 'batch of 12 groupings of a year', 'HTTP p50 ms', '# ms for an analytics screen of a year'],
  caddyMicroseconds: [
    'caddy',
    'visit on a new TLS connection',
    'CPU µs of Caddy',
    '# µs of a core in Caddy for a visit on a new TLS connection',
  ],
  clickBytes: ['data', 'click_events', 'bytes a row', '# bytes for a click in ClickHouse'],
  rollupBytes: ['data', 'rollups', 'bytes a click', '# bytes of rollups for a click in ClickHouse'],
  saleBytes: ['data', 'sale_events', 'bytes a row', '# bytes for a sale in ClickHouse'],
  linkBytes: [
    'sizes',
    'link in PostgreSQL, rows and indexes',
    'bytes',
    '# bytes for a link in PostgreSQL, with indexes',
  ],
  conversionBytes: [
    'sizes',
    'lead or sale in PostgreSQL, with its customer',
    'bytes',
    '# bytes for a lead or sale in PostgreSQL, with its customer',
  ],
  attributeBytes: ['sizes', 'link in ClickHouse, for filters', 'bytes', '# bytes for a link in ClickHouse'],
  logBytes: ['sizes', 'click in the event log', 'bytes', '# bytes for a click in the event log'],
  visitBytes: ['sizes', 'visit in Valkey', 'bytes', '# bytes for a visit in Valkey'],
} as const satisfies Record<string, readonly [bench: string, row: string, column: string, text: string, title?: string]>

/** Numbers that no bench measures. An estimate says so. */
const constants = {
  natsMicroseconds: { value: 8, text: '8 µs of a core in NATS for a click', source: 'bench/HISTORY.md, 4 to 8 µs' },
  lookupMicroseconds: {
    value: 120,
    text: '120 µs of a core in PostgreSQL to look up a link that no cache has',
    source: 'bench/HISTORY.md, 17,000 bare lookups/s on two cores',
  },
  valkeyMicroseconds: {
    value: 12,
    text: '12 µs of a core in Valkey for a click',
    source: 'bench/HISTORY.md, 86,000 bare commands/s on a core',
  },
  backupClickBytes: {
    value: 51,
    text: '51 bytes for a click in a backup',
    source: 'docs/guides/backup.md: 4 million clicks in 203 MB',
  },
  backupLinkBytes: { value: 200, text: '200 bytes for a link in a backup', source: 'an estimate' },
  trafficBytes: { value: 4_000, text: '4 kB sent for a visit, with the TLS certificates', source: 'an estimate' },
  visitSeconds: {
    value: 7_200,
    text: 'visits are remembered for 2 hours',
    source: 'server/src/features/ingest/repeats.ts',
  },
  syncMs: {
    value: 0.09,
    text: 'a sync to disk takes 0.09 ms on the measured machine',
    source: 'bench/HISTORY.md, bare fdatasync',
  },
  spareDisk: { value: 1.5, text: 'disks have half as much again for merges, updates and growth', source: 'a rule' },
  logFull: {
    value: 0.8,
    text: 'the log deletes its oldest clicks above 80 % of its size',
    source: 'docs/guides/operating.md',
  },
  logShare: {
    value: 27 / 32,
    text: 'clicks have 27/32 of the log, EVENT_LOG_MAX_MEGABYTES',
    source: 'server/src/platform/nats.ts',
  },
  busy: {
    value: 0.5,
    text: 'cores are busy at most 50 % at the peak, so one of two machines may fail',
    source: 'a rule',
  },
} as const satisfies Record<string, Fact>

/** The benches ran with the load generator and all engines on this many cores. */
export const measuredCores = 2

export type FactName = keyof typeof measured | keyof typeof constants | 'backupConversionBytes'
export type Basis = Record<FactName, Fact>

/** Reads the numbers that the sizing starts from. Throws if a bench has not measured one. */
export function readBasis(figures: Figures): Basis {
  const facts = Object.entries(measured).map(([name, [bench, row, column, text, title]]): [string, Fact] => {
    const cell = findFigure(figures, bench, row, column, title)
    const value = Number(cell)
    if (!(value > 0))
      throw new ConfigError(`${column} of ${row} in ${bench} is "${cell}" in figures.json: not a number above 0.`)
    const source = `npm run bench:${bench}, ${figures[bench]?.date}`
    return [name, { value, text: text.replace('#', value.toLocaleString('en-US')), source }]
  })
  const known = { ...Object.fromEntries(facts), ...constants } as Omit<Basis, 'backupConversionBytes'>
  return { ...known, backupConversionBytes: estimateBackup(known) }
}

/** A lead or sale takes as much of its size in PostgreSQL in a backup as a link does. */
function estimateBackup({ conversionBytes, backupLinkBytes, linkBytes }: Omit<Basis, 'backupConversionBytes'>): Fact {
  const value = Math.round((conversionBytes.value * backupLinkBytes.value) / linkBytes.value)
  return {
    value,
    text: `${value} bytes for a lead or sale in a backup`,
    source: 'an estimate, from a link in a backup',
  }
}

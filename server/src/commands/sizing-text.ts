import type { Basis, FactName } from '../maintenance/sizing/basis.ts'
import type { Sizing } from '../maintenance/sizing/calculate.ts'
import { formatBytes, formatCount, shorten } from '../maintenance/sizing/quantity.ts'
import { table } from './run.ts'

/** The answer as tables. A number in brackets refers to the list of figures at the end. */
export function formatSizing(sizing: Sizing, basis: Basis): string {
  const { demand, machines, disks, drivers, settings, cautions } = sizing
  const used = new Set([...machines, ...disks, ...drivers].flatMap(({ from }) => from))
  const names = (Object.keys(basis) as FactName[]).filter((name) => used.has(name))
  const cite = (from: FactName[]) => [...new Set(from)].map((name) => `[${names.indexOf(name) + 1}]`).join('')
  const total = machines.reduce((sum, { machines }) => sum + machines, 0)
  const cores = machines.reduce((sum, { machines, cores }) => sum + machines * cores, 0)
  const sumDisks = (isCounted: (on: string) => boolean) =>
    disks.reduce((sum, { on, bytes }) => (isCounted(on) ? sum + bytes : sum), 0)
  const backupBytes = sumDisks((on) => on === 'elsewhere')
  const backups = backupBytes > 0 ? `, and ${formatBytes(backupBytes)} of backups elsewhere` : ''
  return [
    `${formatCount(demand.clicksPerDay, 'click')} a day for ${formatCount(demand.years, 'year')}, at most ${shorten(sizing.peakClicksPerSecond)} a second; ${formatCount(demand.links, 'link')}.`,
    `${total} ${total === 1 ? 'machine' : 'machines'} with ${cores} cores, ${formatBytes(sumDisks((on) => on !== 'elsewhere'))} of disk${backups}.`,
    table(
      machines.map(({ role, machines, cores, memoryGb, diskBytes, why, from }) => ({
        role,
        machines: String(machines),
        cores: String(cores),
        memory: `${memoryGb} GB`,
        disk: diskBytes > 0 ? formatBytes(diskBytes) : '',
        'cores at the peak': `${why} ${cite(from)}`,
      })),
    ),
    'Cores, memory and disk are those of each machine. Engines in several groups show the work of one group.',
    table(
      disks.map(({ name, on, bytesPerCopy, copies, bytes, why, from }) => ({
        'disk for': name,
        on,
        'a copy': formatBytes(bytesPerCopy),
        copies: String(copies),
        'in all': formatBytes(bytes),
        from: `${why} ${cite(from)}`,
      })),
    ),
    table(
      drivers.map(({ name, amount, share, change, from }) => ({
        'cost driver': name,
        amount,
        share: share === undefined ? '' : `${Math.round(share * 100)} %`,
        'less with': change ?? '',
        from: cite(from),
      })),
    ),
    [
      'Settings that differ from the defaults:',
      ...Object.entries(settings).map(([name, value]) => `  ${name}=${value}`),
    ].join('\n'),
    ['Limits:', ...cautions.map((text) => `  - ${text}`)].join('\n'),
    ['Figures:', ...names.map((name, index) => `  [${index + 1}] ${basis[name].text} (${basis[name].source})`)].join(
      '\n',
    ),
  ].join('\n\n')
}

import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openAllMetrics } from '../../test/metrics.ts'

const metrics = await openAllMetrics()
const guide = new URL('../../../docs/guides/observability.md', import.meta.url)

test('the guide lists every metric with its type and labels, and no other', async () => {
  const rows = [...(await readFile(guide, 'utf8')).matchAll(/^\| `(tributary_\w+)` \| (\w+) \| ([^|]*?) ?\| \S/gm)]
  const documented = rows.map(([, name, type, labels = '']) => ({ name, type, labels: labels.match(/\w+/g) ?? [] }))
  expect(documented.toSorted(byName)).toEqual([...ourMetrics(), ...supervisorMetrics].toSorted(byName))
})

test('metric names end with their unit, and counters with _total', () => {
  const units = /_(seconds|bytes|messages|total|owned|up|streams|pending|letters|ratio|records)$/
  expect(ourMetrics().filter(({ name }) => !units.test(name))).toEqual([])
  expect(ourMetrics().filter(({ name, type }) => (type === 'counter') !== name.endsWith('_total'))).toEqual([])
})

/** The supervisor writes these metrics as text, because it has no registry. */
const supervisorMetrics = [
  { name: 'tributary_process_up', type: 'gauge', labels: [] },
  { name: 'tributary_process_restarts_total', type: 'counter', labels: [] },
]

function ourMetrics() {
  const all = metrics.registry.getMetricsAsArray() as unknown as {
    name: string
    labelNames: string[]
    constructor: { name: string }
  }[]
  return all
    .filter(({ name }) => !/^tributary_(nodejs|process)_/.test(name))
    .map((metric) => ({
      name: metric.name,
      type: metric.constructor.name.toLowerCase(),
      labels: metric.labelNames,
    }))
}

function byName(one: { name?: string }, other: { name?: string }): number {
  return (one.name ?? '') < (other.name ?? '') ? -1 : 1
}

import { type ReactNode, useState } from 'react'
import { BarChart } from '../charts/bar-chart.tsx'
import { LineChart } from '../charts/line-chart.tsx'
import type { Point, SeriesProps } from '../charts/series.ts'
import { Sparkline } from '../charts/sparkline.tsx'
import { useLocale } from '../ui/figures.tsx'
import { formatMoney, formatNumber, formatShort } from '../ui/format.ts'
import { Panel } from '../ui/page.tsx'

const points = (count: number, value: (index: number) => number, name = 'Day'): Point[] =>
  Array.from({ length: count }, (_, index) => ({ name: `${name} ${index + 1}`, value: Math.round(value(index)) }))
const wave = (index: number) => 800 + 500 * Math.sin(index / 2) + index * 20

type Example = Pick<SeriesProps, 'points' | 'comparison' | 'notes' | 'partial'> & { isMoney?: boolean }
const before = (count: number) => ({
  points: points(count, (index) => wave(index + 4) * 0.8, 'Before, day'),
  name: 'Before',
})
const notes = [
  { index: 4, text: 'Newsletter 44' },
  { index: 21, text: 'Site was down' },
  { index: 21, text: 'Long note '.repeat(20).trim() },
]

const examples: Record<string, Example> = {
  'A month': { points: points(30, wave) },
  'A month compared': { points: points(30, wave), comparison: before(30), notes, partial: true },
  'Compared with more days': { points: points(10, wave), comparison: before(30), partial: true },
  'Compared with fewer days': { points: points(31, wave), comparison: before(10) },
  'A long series': { points: points(120, (index) => 4_000 + 3_000 * Math.sin(index / 10) + 900 * Math.sin(index)) },
  'Money with refunds': {
    ...{ points: points(14, (index) => 90_000 * Math.sin(index / 2)), comparison: before(14), isMoney: true },
  },
  'Only refunds': { points: points(7, (index) => -1_000 * index), isMoney: true },
  'Only zeros': { points: points(30, () => 0), comparison: { points: points(30, () => 0), name: 'Before' } },
  'One day': { points: points(1, () => 7), notes: [{ index: 0, text: 'The first day' }] },
  'One day so far': { points: points(1, () => 7), partial: true },
  'Very large': { points: points(7, (index) => 9e14 + index * 1e13) },
  Nothing: { points: [] },
}

export function ChartParts() {
  return (
    <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
      {Object.entries(examples).flatMap(([name, example]) => [
        <Example key={`${name} as a line`} name={`${name} as a line`} example={example} Chart={LineChart} />,
        <Example key={`${name} as bars`} name={`${name} as bars`} example={example} Chart={BarChart} />,
      ])}
    </div>
  )
}

type ExampleProps = { name: string; example: Example; Chart(props: SeriesProps): ReactNode }

function Example({ name, example: { isMoney, ...series }, Chart }: ExampleProps) {
  const locale = useLocale()
  const [chosen, setChosen] = useState<number>()
  const format = (value: number) => (isMoney ? formatMoney(value, 'EUR', locale) : formatNumber(value, locale))
  return (
    <Panel className="p-3">
      <h3 className="mb-2 flex items-center gap-3 text-sm font-medium">
        {name} <Sparkline values={series.points.map(({ value }) => value)} />
        {chosen !== undefined && <span className="text-muted">Chosen: {chosen + 1}</span>}
      </h3>
      <Chart
        {...series}
        description={`${name}: an example`}
        columns={['Day', 'Clicks']}
        format={format}
        formatTick={(value) => (isMoney ? `€ ${formatShort(value / 100, locale)}` : formatShort(value, locale))}
        onChoose={setChosen}
        className={isMoney ? 'text-sales' : 'text-clicks'}
      />
    </Panel>
  )
}

import { LineChart, type Point } from '../charts/line-chart.tsx'
import { Sparkline } from '../charts/sparkline.tsx'
import { useLocale } from '../ui/figures.tsx'
import { formatNumber, formatShort } from '../ui/format.ts'
import { Panel } from '../ui/page.tsx'

const days = (count: number, value: (index: number) => number): Point[] =>
  Array.from({ length: count }, (_, index) => ({ name: `Day ${index + 1}`, value: value(index) }))

const series = {
  'A month': days(30, (index) => Math.round(800 + 500 * Math.sin(index / 2) + index * 20)),
  'A quarter': days(90, (index) => Math.round(4_000 + 3_000 * Math.sin(index / 30))),
  'Only zeros': days(30, () => 0),
  'One day': days(1, () => 7),
  'Very large': days(7, (index) => 9e14 + index * 1e13),
  Nothing: [],
}

export function ChartParts() {
  const locale = useLocale()
  return (
    <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
      {Object.entries(series).map(([name, points]) => (
        <Panel key={name} className="p-3">
          <h3 className="mb-2 flex items-center gap-3 text-sm font-medium">
            {name} <Sparkline values={points.map(({ value }) => value)} />
          </h3>
          <LineChart
            points={points}
            description={`${name}: an example`}
            columns={['Day', 'Clicks']}
            format={(value) => formatNumber(value, locale)}
            formatTick={(value) => formatShort(value, locale)}
            className="text-clicks"
          />
        </Panel>
      ))}
    </div>
  )
}

import { Funnel } from '../charts/funnel.tsx'
import { useLocale } from '../ui/figures.tsx'
import { formatNumber } from '../ui/format.ts'
import { Panel } from '../ui/page.tsx'

const names = ['Clicks', 'Leads', 'Sales']
const colors = ['text-clicks', 'text-leads', 'text-sales']
const examples = {
  Funnel: [48_219, 12_904, 4_120],
  'Funnel of a few': [48_219, 1_904, 3],
  'Funnel that widens': [200, 340, 100],
  'Funnel without sales': [48_219, 0, 0],
  'Funnel without anything': [0, 0, 0],
}

export function FunnelParts() {
  const locale = useLocale()
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  return (
    <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
      {Object.entries(examples).map(([name, values]) => (
        <Panel key={name} className="p-3">
          <h3 className="mb-2 text-sm font-medium">{name}</h3>
          <Funnel
            steps={values.map((value, index) => ({
              ...{ id: names[index] ?? '', name: names[index] ?? '', className: colors[index] ?? '' },
              ...{ value, text: formatNumber(value, locale) },
            }))}
            description={`${name}: an example`}
            columns={['Step', 'Count', 'Of the step before', 'Of clicks']}
            formatShare={(share) => percent.format(share)}
          />
        </Panel>
      ))}
    </div>
  )
}

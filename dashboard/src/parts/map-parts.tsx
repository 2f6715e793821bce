import { lazy, Suspense, useState } from 'react'
import { useLocale } from '../ui/figures.tsx'
import { formatNumber } from '../ui/format.ts'
import { Panel } from '../ui/page.tsx'

const WorldMap = lazy(async () => ({ default: (await import('../charts/world-map.tsx')).WorldMap }))

const much = 'US DE GB FR IN BR JP AU CA ZA NG MX ES IT PL SE NO FI TR SG HK MT RU CN AR EG KE ID TH VN KZ CL GI'.split(
  ' ',
)
const examples = {
  'A map of many countries': new Map(much.map((code, index) => [code, Math.round(40_000 / (index + 1) ** 1.4)])),
  'A map of few countries': new Map([
    ...([
      ['DE', 31_204],
      ['AT', 9_022],
      ['CH', 3_180],
      ['LI', 204],
    ] as const),
  ]),
  'A map of none': new Map<string, number>(),
}

export function MapParts() {
  return (
    <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
      <Suspense>
        {Object.entries(examples).map(([name, values]) => (
          <Example key={name} name={name} values={values} />
        ))}
      </Suspense>
    </div>
  )
}

function Example({ name, values }: { name: string; values: ReadonlyMap<string, number> }) {
  const locale = useLocale()
  const [chosen, setChosen] = useState(new Set(['FR']))
  const regions = new Intl.DisplayNames([locale], { type: 'region' })
  const toggle = (code: string) =>
    setChosen((chosen) => new Set(chosen.has(code) ? [...chosen].filter((one) => one !== code) : [...chosen, code]))
  return (
    <Panel className="p-3">
      <h3 className="mb-2 text-sm font-medium">{name}</h3>
      <WorldMap
        values={values}
        names={(code) => regions.of(code) ?? code}
        format={(value) => formatNumber(value, locale)}
        description={`${name}: an example`}
        columns={['Country', 'Clicks']}
        chosen={chosen}
        onChoose={toggle}
      />
    </Panel>
  )
}

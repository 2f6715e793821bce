import { memo } from 'react'
import { type Country, countries, shade } from './map.ts'

type Props = {
  names(code: string): string
  format(value: number): string
  id: string
  /** Countries with a value, highest first. */
  shown: readonly [code: string, value: number][]
  most: number
  chosen: ReadonlySet<string>
  /** Pixels of the screen per unit of the map. */
  scale: number
}

/** All countries: those with a value are options of a list, the others are only land. */
export const MapShapes = memo(function MapShapes({ id, shown, most, names, format, chosen, scale }: Props) {
  const valued = new Map(shown)
  return (
    <>
      {[...countries.values()].map((country) =>
        valued.has(country.code) ? null : (
          <path
            key={country.code}
            data-code={country.code}
            aria-hidden
            d={country.path}
            className={landClass}
            {...edge}
          />
        ),
      )}
      {shown.map(([code, value]) => {
        const country = countries.get(code)
        return (
          country && (
            <path
              key={code}
              id={`${id}-${code}`}
              data-code={code}
              role="option"
              aria-selected={chosen.has(code)}
              aria-label={`${names(code)}: ${format(value)}`}
              d={country.path ?? drawDot(country, scale)}
              fill="currentColor"
              fillOpacity={shade(value, most)}
              className="stroke-surface"
              {...edge}
            />
          )
        )
      })}
    </>
  )
})

const edge = { strokeWidth: 0.75, strokeLinejoin: 'round', vectorEffect: 'non-scaling-stroke' } as const
const landClass = 'fill-hover stroke-line-strong'

/** The border of a country that is pointed at or chosen. */
export function MapOutline({ code, scale, strokeWidth }: { code: string; scale: number; strokeWidth: number }) {
  const country = countries.get(code)
  if (!country) return null
  const path = country.path ?? drawDot(country, scale)
  return (
    <path
      aria-hidden
      d={path}
      fill="none"
      pointerEvents="none"
      className="stroke-ink"
      {...edge}
      strokeWidth={strokeWidth}
    />
  )
}

/** A dot of the same size on every screen. */
function drawDot({ x, y }: Country, scale: number): string {
  const radius = Math.round(35 / scale) / 10
  return `M${x - radius} ${y}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0z`
}

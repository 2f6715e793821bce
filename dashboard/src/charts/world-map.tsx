import { type ReactNode, useId, useMemo, useRef } from 'react'
import { mapSize } from './map/countries.ts'
import { MapLegend } from './map/legend.tsx'
import { countries, rankValues } from './map/map.ts'
import { useMapPointing } from './map/pointing.ts'
import { MapOutline, MapShapes } from './map/shapes.tsx'
import { Tooltip } from './tooltip.tsx'
import { useWidth } from './width.ts'

export type WorldMapProps = {
  /** By ISO 3166-1 alpha-2 code. */
  values: ReadonlyMap<string, number>
  names(code: string): string
  format(value: number): string
  /** What the values are, in a sentence with the total: read aloud instead of the picture. */
  description: string
  /** Headings of the table that screen readers get: of the countries and of the values. */
  columns: readonly [ReactNode, ReactNode]
  /** Called for a country with a value, or a chosen one, when it is clicked or chosen by Enter. */
  onChoose?(code: string): void
  chosen?: ReadonlySet<string>
  className?: string
}

const none: ReadonlySet<string> = new Set()

/** Countries coloured by value. Pointer and keys read them one by one, from the highest value down; screen readers get a table. */
export function WorldMap(props: WorldMapProps) {
  const { values, names, format, description, onChoose, chosen = none, className = 'text-clicks' } = props
  const figure = useRef<HTMLElement>(null)
  const width = useWidth(figure)
  const id = useId()
  const ranked = useMemo(() => rankValues(values), [values])
  const shown = useMemo(() => ranked.filter(([code]) => countries.has(code)), [ranked])
  const codes = shown.map(([code]) => code)
  const isOpen = (code: string) => onChoose !== undefined && (codes.includes(code) || chosen.has(code))
  // A part of the page that is not shown yet has no width.
  const scale = Math.max(1, width) / mapSize.width
  const { pointed, handlers } = useMapPointing({
    codes,
    onChoose: (code) => isOpen(code) && onChoose?.(code),
    locate: (code) => ({ x: (countries.get(code)?.x ?? 0) * scale, y: (countries.get(code)?.y ?? 0) * scale }),
  })
  const most = ranked[0]?.[1] ?? 0
  const list = {
    ...{ role: 'listbox', tabIndex: 0, 'aria-multiselectable': true },
    'aria-activedescendant': pointed && codes.includes(pointed.code) ? `${id}-${pointed.code}` : undefined,
  }
  const plot = { ...(shown.length === 0 ? { role: 'img' } : list), ...handlers, 'aria-label': description }
  return (
    <figure ref={figure} className={`relative ${className}`}>
      <div {...plot} className={`rounded-md ${pointed && isOpen(pointed.code) ? 'cursor-pointer' : ''}`}>
        <svg role="none" viewBox={`0 0 ${mapSize.width} ${mapSize.height}`} className="block h-auto w-full">
          <MapShapes {...{ id, shown, most, names, format, chosen, scale }} />
          {[...chosen].map((code) => (
            <MapOutline key={code} code={code} scale={scale} strokeWidth={1.75} />
          ))}
          {pointed && <MapOutline code={pointed.code} scale={scale} strokeWidth={1.25} />}
        </svg>
      </div>
      {most > 0 && <MapLegend most={format(most)} />}
      {pointed && (
        <Tooltip x={pointed.x} y={pointed.y + 12} width={width}>
          <span className="text-muted">{names(pointed.code)}</span>{' '}
          <span className="font-medium">{format(values.get(pointed.code) ?? 0)}</span>
        </Tooltip>
      )}
      <MapTable {...props} ranked={ranked} />
    </figure>
  )
}

type TableProps = WorldMapProps & { ranked: readonly [code: string, value: number][] }

function MapTable({ description, columns, names, format, ranked }: TableProps) {
  return (
    <div className="sr-only">
      <table>
        <caption>{description}</caption>
        <thead>
          <tr>
            <th scope="col">{columns[0]}</th>
            <th scope="col">{columns[1]}</th>
          </tr>
        </thead>
        <tbody>
          {ranked.map(([code, value]) => (
            <tr key={code}>
              <th scope="row">{names(code)}</th>
              <td>{format(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ExtendedFeatureCollection, type GeoGeometryObjects, geoEqualEarth, geoPath } from 'd3-geo'
import { feature } from 'topojson-client'
import { findCountryCode } from './country-codes.ts'

const mapWidth = 2_000
const antarctica = 'AQ'
const file = join(import.meta.dirname, 'src/charts/map/countries.ts')

type Country = { code: string; geometry: GeoGeometryObjects }
type Ring = [x: number, y: number][]

if (import.meta.main) writeFileSync(file, printCountries())

/** The file `countries.ts`: each country's code, where its name belongs, and its shape, or none when it is too small for one. */
export function printCountries(): string {
  const large = Map.groupBy(readCountries(import.meta.resolve('world-atlas/countries-110m.json')), ({ code }) => code)
  const small = Map.groupBy(
    readCountries(import.meta.resolve('world-atlas/countries-50m.json')).filter(({ code }) => !large.has(code)),
    ({ code }) => code,
  )
  const shown = [...large.values(), ...small.values()].flat().map(({ geometry }) => geometry)
  const all = { type: 'GeometryCollection', geometries: shown } as const
  // Turned so that the east of Russia is in one piece.
  const path = geoPath(geoEqualEarth().rotate([-11, 0]).fitWidth(mapWidth, all))
  const height = Math.ceil(path.bounds(all)[1][1])
  const draw = ([code, parts]: [string, Country[]], hasShape: boolean) =>
    print(
      code,
      parts.flatMap(({ geometry }) => drawRings(path, geometry)),
      hasShape,
    )
  const lines = [...[...large].map((one) => draw(one, true)), ...[...small].map((one) => draw(one, false))].sort()
  return `/** Written by \`npm run countries\` from world-atlas: code, middle and shape of each country, in a map of this size. */
export const mapSize = { width: ${mapWidth}, height: ${height} }
export const countryLines = \`
${lines.join('\n')}
\`
`
}

function readCountries(atlasUrl: string): Country[] {
  const atlas = JSON.parse(readFileSync(new URL(atlasUrl), 'utf8')) as Parameters<typeof feature>[0]
  const { features } = feature(atlas, 'countries') as unknown as ExtendedFeatureCollection
  return features.flatMap(({ id, properties, geometry }) => {
    const code = findCountryCode(id === undefined ? undefined : String(id), properties?.name)
    return code === undefined || code === antarctica || !geometry ? [] : [{ code, geometry }]
  })
}

/** The outlines of a country in whole units of the map. */
function drawRings(path: ReturnType<typeof geoPath>, geometry: GeoGeometryObjects): Ring[] {
  const rings: Ring[] = []
  const add = (x: number, y: number) => rings.at(-1)?.push([Math.round(x), Math.round(y)])
  path.context({
    beginPath() {},
    arc() {},
    moveTo(x, y) {
      rings.push([])
      add(x, y)
    },
    lineTo: add,
    closePath() {},
  })(geometry)
  path.context(null)
  return rings.map(dropRepeats)
}

function dropRepeats(ring: Ring): Ring {
  return ring.filter(([x, y], index) => index === 0 || x !== ring[index - 1]?.[0] || y !== ring[index - 1]?.[1])
}

function print(code: string, rings: Ring[], hasShape: boolean): string {
  const [largest = []] = rings.toSorted((one, other) => Math.abs(measure(other)) - Math.abs(measure(one)))
  const shape = hasShape
    ? rings
        .filter((ring) => ring.length > 2)
        .map(printRing)
        .join('')
    : ''
  return [code, ...findMiddle(largest), ...(shape && [shape])].join(' ')
}

/** A closed path that begins at an absolute position; the steps after it are relative, which takes a third of the characters. */
function printRing([[x, y] = [0, 0], ...rest]: Ring): string {
  let previous = [x, y] as const
  const steps = rest.map((point) => {
    const step = [point[0] - previous[0], point[1] - previous[1]]
    previous = point
    return step.join(' ')
  })
  return `M${x} ${y}l${steps.join(' ')}z`.replaceAll(' -', '-')
}

/** The centroid of an area. */
function findMiddle(ring: Ring): [x: number, y: number] {
  const area = measure(ring)
  if (area === 0) return ring[0] ?? [0, 0]
  let [across, down] = [0, 0]
  for (const [[x, y], [nextX, nextY]] of edges(ring)) {
    const cross = x * nextY - nextX * y
    across += (x + nextX) * cross
    down += (y + nextY) * cross
  }
  return [Math.round(across / (6 * area)), Math.round(down / (6 * area))]
}

/** The signed area of a ring. */
function measure(ring: Ring): number {
  return edges(ring).reduce((sum, [[x, y], [nextX, nextY]]) => sum + x * nextY - nextX * y, 0) / 2
}

function edges(ring: Ring): [Ring[number], Ring[number]][] {
  return ring.map((point, index) => [point, ring[(index + 1) % ring.length] ?? point])
}

import type { RowOrder } from './compare-rows.ts'
import { type CardName, cardNames, cards, type Dimension } from './dimensions.ts'
import { dropUnset, type EventSearch, parseEventSearch, readText } from './event-search.ts'
import { type Measure, measures } from './measures.ts'
import type { Comparison } from './periods.ts'

const chartKinds = ['line', 'bars', 'funnel'] as const
export type ChartKind = (typeof chartKinds)[number]

/** What the address of the page says: filters, period, what is measured and how it is drawn. Defaults are absent. */
export type AnalyticsSearch = EventSearch & {
  measure?: Measure
  chart?: ChartKind
  compare?: Comparison
  order?: RowOrder
  /** The chosen dimensions of cards that don't show their first, separated by commas. */
  tabs?: string
  /** Whether countries are on a map. */
  map?: true
  view?: string
}
export type ChangeAnalytics = (change: Partial<AnalyticsSearch>) => void

/** Reads the address; what it doesn't know is dropped. */
export function parseAnalyticsSearch(given: Record<string, unknown>): AnalyticsSearch {
  return dropUnset({
    ...parseEventSearch(given),
    measure: measures.find((name) => name === given.measure && name !== 'clicks'),
    chart: chartKinds.find((name) => name === given.chart && name !== 'line'),
    compare: (['previous', 'year'] as const).find((name) => name === given.compare),
    order: (['fell', 'rose'] as const).find((name) => name === given.order),
    tabs: formatTabs(parseTabs(readText(given.tabs))),
    map: given.map === true || given.map === 'true' ? true : undefined,
    view: readText(given.view),
  })
}

/** The address without the id of a view, as a saved view has it. */
export function viewQuery({ view: _, ...rest }: AnalyticsSearch): Record<string, string> {
  return Object.fromEntries(Object.entries(dropUnset(rest)).map(([name, value]) => [name, String(value)]))
}

export function chosenDimension(card: CardName, tabs: string | undefined): Dimension {
  return parseTabs(tabs)[card] ?? cards[card][0]
}

/** The address after a card switches to another dimension. */
export function chooseDimension(tabs: string | undefined, card: CardName, dimension: Dimension): string | undefined {
  return formatTabs({ ...parseTabs(tabs), [card]: dimension })
}

type Tabs = Partial<Record<CardName, Dimension>>

function parseTabs(text: string | undefined): Tabs {
  const named = text?.split(',') ?? []
  const entries = cardNames.map((card) => [card, cards[card].find((dimension) => named.includes(dimension))] as const)
  return Object.fromEntries(entries.filter(([, dimension]) => dimension !== undefined))
}

function formatTabs(tabs: Tabs): string | undefined {
  const others = cardNames.flatMap((card) => (tabs[card] && tabs[card] !== cards[card][0] ? [tabs[card]] : []))
  return others.join() || undefined
}

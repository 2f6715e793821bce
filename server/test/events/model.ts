/**
 * Computes the expected result of an event query, as simply as possible: it checks one event after the other and shares
 * no code with the implementation.
 */

export type Kind = 'clicks' | 'leads' | 'sales'
export type ModelLink = {
  id: string
  number: string
  domain: string
  key: string
  externalId: string
  tenantId: string
  folderId: string
  partnerId: string
  /** The present group and tags of the partner. */
  groupId: string
  partnerTagIds: string[]
  tagIds: string[]
  isRoot: boolean
}
export type ClickFacts = Record<
  | 'country'
  | 'region'
  | 'city'
  | 'continent'
  | 'device'
  | 'browser'
  | 'os'
  | 'trigger'
  | 'referer'
  | 'refererUrl'
  | 'url',
  string
> &
  Record<'utm_source' | 'utm_medium' | 'utm_campaign' | 'utm_term' | 'utm_content', string>
export type ModelEvent = {
  id: string
  clickId: string
  at: number
  link: ModelLink
  facts: ClickFacts
  /** Bot reason; empty for a person. */
  bot: string
  customerId: string
  metadata: Record<string, unknown> | null
  saleType: '' | 'new' | 'recurring'
  isRefund: boolean
  amount: number
  /** By how much this event changes the number of sales. */
  sales: number
}
/** All links, customers and events of a test; each event list is sorted by time, then by id. */
export type World = { now: number; links: ModelLink[]; customerIds: string[] } & Record<Kind, ModelEvent[]>

export type Comparison = '=' | '!=' | '>' | '>=' | '<' | '<='
export type MetadataTest =
  | { path: string[]; comparison: Comparison; text: string }
  | { all: MetadataTest[] }
  | { any: MetadataTest[] }
export type Choice = { values: string[]; excluded: boolean }
/** A query as data, before it becomes URL parameters. */
export type ModelQuery = {
  kind: Kind
  from: number
  /** End of the period, exclusive. */
  to: number
  choices: Partial<Record<string, Choice>>
  link?: ModelLink
  customerId?: string
  root?: boolean
  saleType?: 'new' | 'recurring'
  qr?: boolean
  metadata?: MetadataTest
  /** Which bot clicks match; none by default. */
  bots?: 'include' | 'only'
}

/** Returns the events that match a query, sorted by time. */
export function matching(world: World, query: ModelQuery): ModelEvent[] {
  return [...found(world, query, true)]
}

/** Returns one page of the matching events. */
export function modelPage(
  world: World,
  query: ModelQuery,
  { page, limit, ascending }: { page: number; limit: number; ascending: boolean },
): ModelEvent[] {
  const events: ModelEvent[] = []
  let position = 0
  for (const event of found(world, query, ascending)) {
    if (position >= page * limit) break
    if (position >= (page - 1) * limit) events.push(event)
    position += 1
  }
  return events
}

function* found(world: World, query: ModelQuery, ascending: boolean): Generator<ModelEvent> {
  const events = world[query.kind]
  const first = firstFrom(events, query.from)
  const next = firstFrom(events, query.to)
  const isFound = buildTest(world, query)
  for (let step = 0; step < next - first; step++) {
    const event = events[ascending ? first + step : next - 1 - step] as ModelEvent
    if (isFound(event)) yield event
  }
}

/** Returns the index of the first event at or after this instant. */
function firstFrom(events: ModelEvent[], at: number): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((events[middle] as ModelEvent).at < at) low = middle + 1
    else high = middle
  }
  return low
}

const remembered = new WeakMap<World, Map<string, Set<string>>>()

function findClicks(world: World, customerId: string): Set<string> {
  let known = remembered.get(world)
  if (!known) {
    known = new Map()
    for (const event of [...world.leads, ...world.sales]) {
      const clicks = known.get(event.customerId) ?? new Set()
      known.set(event.customerId, clicks.add(event.clickId))
    }
    remembered.set(world, known)
  }
  return known.get(customerId) ?? new Set()
}

function buildTest(world: World, query: ModelQuery): (event: ModelEvent) => boolean {
  const { kind, link, root, qr, saleType, metadata, customerId, bots } = query
  const ofCustomer = customerId === undefined ? undefined : findClicks(world, customerId)
  const choices = Object.entries(query.choices)
  return (event) => {
    if (event.bot === '' ? bots === 'only' : bots === undefined) return false
    if (link && event.link !== link) return false
    if (root !== undefined && event.link.isRoot !== root) return false
    if (qr !== undefined && event.facts.trigger !== (qr ? 'qr' : 'link')) return false
    if (ofCustomer && !(kind === 'clicks' ? ofCustomer.has(event.id) : event.customerId === customerId)) return false
    for (const [parameter, choice] of choices) {
      if (choice && matches(event, parameter, choice.values) === choice.excluded) return false
    }
    if (saleType && kind === 'sales' && event.saleType !== saleType) return false
    return !metadata || kind === 'clicks' || passes(event.metadata, metadata)
  }
}

function matches({ link, facts }: ModelEvent, parameter: string, values: string[]): boolean {
  switch (parameter) {
    case 'domain':
      return values.some((value) => value.toLowerCase() === link.domain)
    case 'linkId':
      return values.includes(link.id)
    case 'tenantId':
    case 'folderId':
    case 'partnerId':
    case 'groupId':
      return values.includes(link[parameter])
    case 'tagId':
      return link.tagIds.some((tagId) => values.includes(tagId))
    case 'partnerTagId':
      return link.partnerTagIds.some((tagId) => values.includes(tagId))
    default:
      return values.includes(facts[parameter as keyof ClickFacts])
  }
}

function passes(metadata: unknown, test: MetadataTest): boolean {
  if ('all' in test) return test.all.every((part) => passes(metadata, part))
  if ('any' in test) return test.any.some((part) => passes(metadata, part))
  const value = test.path.reduce<unknown>(
    (at, key) =>
      at !== null && typeof at === 'object' && !Array.isArray(at) && Object.hasOwn(at, key)
        ? (at as never)[key]
        : undefined,
    metadata,
  )
  if (test.comparison === '=') return isSame(value, test.text)
  if (test.comparison === '!=') return !isSame(value, test.text)
  const order = compareWith(value, test.text)
  if (order === undefined) return false
  if (order === 0) return test.comparison.endsWith('=')
  return test.comparison.startsWith(order < 0 ? '<' : '>')
}

function isSame(value: unknown, text: string): boolean {
  if (typeof value === 'number') return numberIn(text) === value
  return (typeof value === 'string' || typeof value === 'boolean') && String(value) === text
}

/** Compares a value with a text: negative, zero or positive; undefined if they can't be compared. */
function compareWith(value: unknown, text: string): number | undefined {
  const expected = numberIn(text)
  if (typeof value === 'number') return expected === undefined ? undefined : value - expected
  if (typeof value !== 'string') return undefined
  if (expected === undefined) return Buffer.compare(Buffer.from(value), Buffer.from(text))
  const [whole = '', fraction = ''] = value.split('.')
  const isShort = !/e/i.test(value) && whole.replace('-', '').length <= 18 && fraction.length <= 18
  const number = isShort ? numberIn(value) : undefined
  return number === undefined ? undefined : number - expected
}

/** Parses a text as a JSON number; undefined if it is not one. */
function numberIn(text: string): number | undefined {
  if (!/^[-\d]/.test(text) || /\s/.test(text)) return undefined
  try {
    const number: unknown = JSON.parse(text)
    return typeof number === 'number' && Number.isFinite(number) ? number : undefined
  } catch {
    return undefined
  }
}

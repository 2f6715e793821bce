import { attributeKind, type ConditionOperator, type RewardCondition } from '@tributary/contract/reward-terms'
import type { RewardEvent } from './terms.ts'
import { monthsBetween } from './window.ts'

/** The value of an attribute; undefined when the event has none. */
export type Actual = string | bigint | number | boolean | undefined

const longestText = 500

/** Whether the condition is true. A missing attribute makes every condition false. */
export function judgeCondition({ entity, attribute, operator, value }: RewardCondition, actual: Actual): boolean {
  if (actual === undefined) return false
  const values = [value].flat()
  const isMetadata = attributeKind(entity, attribute) === 'metadata'
  const text = String(actual)
  const first = values[0] as string | number
  switch (operator) {
    case 'equals_to':
    case 'in':
      return listTexts(value).has(text)
    case 'not_equals':
    case 'not_in':
      return !listTexts(value).has(text)
    case 'starts_with':
      return text.startsWith(String(first))
    case 'ends_with':
      return text.endsWith(String(first))
    case 'contains':
      return text.includes(String(first))
    case 'not_contains':
      return !text.includes(String(first))
    default:
      return judgeOrder(operator, isMetadata ? compareMetadata(text, String(first)) : compare(actual, first))
  }
}

const listed = new WeakMap<object, Set<string>>()

/** The values as texts. Those of a list are collected once, because a sale may have hundreds of products to compare. */
function listTexts(value: RewardCondition['value']): Set<string> {
  if (!Array.isArray(value)) return new Set([String(value)])
  const known = listed.get(value) ?? new Set(value.map(String))
  listed.set(value, known)
  return known
}

/** Reads an attribute of the event; `productId` is that of one line. */
export function readAttribute(
  event: RewardEvent,
  { entity, attribute }: Pick<RewardCondition, 'entity' | 'attribute'>,
  productId: string | null,
): Actual {
  if (entity === 'customer') return readCustomer(event, attribute)
  if (entity === 'partner') return readPartner(event, attribute)
  if (attribute.startsWith('metadata.')) return readMetadata(event, attribute.slice('metadata.'.length))
  if (attribute === 'productId') return productId ?? undefined
  if (attribute === 'amount') return event.amount
  return attribute === 'type' ? (event.isFirst ? 'new' : 'recurring') : undefined
}

function readCustomer({ customer, at }: RewardEvent, attribute: string): Actual {
  if (!customer) return undefined
  const { firstSaleAt } = customer
  switch (attribute) {
    case 'country':
      return customer.country?.toUpperCase() || undefined
    case 'source':
      return customer.source
    case 'signupDate':
      return formatDay(customer.createdAt)
    case 'subscriptionStartDate':
      return firstSaleAt ? formatDay(firstSaleAt) : undefined
    default:
      return firstSaleAt ? BigInt(monthsBetween(firstSaleAt, at)) : undefined
  }
}

function readPartner({ partner: { country, totals } }: RewardEvent, attribute: string): Actual {
  switch (attribute) {
    case 'country':
      return country?.toUpperCase() || undefined
    case 'totalClicks':
      return totals.clicks
    case 'totalLeads':
      return totals.leads
    case 'totalConversions':
      return totals.conversions
    case 'totalSaleAmount':
      return totals.saleAmount
    default:
      return totals.commissions
  }
}

/** Longer texts and nested values are no attributes, which bounds the size of explanations. */
function readMetadata({ metadata }: RewardEvent, key: string): Actual {
  if (!metadata || !Object.hasOwn(metadata, key)) return undefined
  const value = metadata[key]
  if (typeof value === 'number' || typeof value === 'boolean') return value
  return typeof value === 'string' && value.length <= longestText ? value : undefined
}

function formatDay(date: Date): string {
  return date.toISOString().slice(0, 10)
}

type Order = -1 | 0 | 1 | undefined

function judgeOrder(operator: ConditionOperator, order: Order): boolean {
  switch (operator) {
    case 'greater_than':
      return order === 1
    case 'greater_than_or_equal':
      return order === 1 || order === 0
    case 'less_than':
      return order === -1
    case 'less_than_or_equal':
      return order === -1 || order === 0
    default:
      return false
  }
}

/** Numbers by size, and days such as 2026-01-31 as texts, whose order is that of time. */
function compare(actual: string | bigint | number | boolean, expected: string | number): Order {
  if (typeof actual === 'bigint' && typeof expected === 'number') return orderBy(actual, BigInt(expected))
  return typeof actual === 'string' && typeof expected === 'string' ? orderBy(actual, expected) : undefined
}

/** Metadata has no declared type: two numbers, or two times, can be compared. */
function compareMetadata(actual: string, expected: string): Order {
  const numbers = [parseNumber(actual), parseNumber(expected)] as const
  if (numbers[0] !== undefined && numbers[1] !== undefined) return orderBy(numbers[0], numbers[1])
  const times = [parseTime(actual), parseTime(expected)] as const
  return times[0] !== undefined && times[1] !== undefined ? orderBy(times[0], times[1]) : undefined
}

function orderBy<T extends bigint | number | string>(one: T, other: T): Order {
  if (one === other) return 0
  return one < other ? -1 : 1
}

function parseNumber(text: string): number | undefined {
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(text) ? Number(text) : undefined
}

function parseTime(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

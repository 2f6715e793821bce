import { z } from 'zod'

const prefixes = [
  ...(['ws', 'key', 'dom', 'link', 'tag', 'fold', 'cus', 'evt', 'whk', 'user', 'ses', 'inv', 'utm', 'view'] as const),
  ...(['prog', 'grp', 'pn', 'pga', 'ptag', 'disc', 'dcode', 'rw', 'cm', 'po', 'bulk', 'note', 'chk'] as const),
] as const
export type IdPrefix = (typeof prefixes)[number]

/** A time as ISO 8601 in UTC with milliseconds. */
export const instant = z.string().describe('Time as ISO 8601 in UTC.')

/** A time of the link object, which is never null: an unset time is the empty string. */
export const instantOrEmpty = z.string().describe('Time as ISO 8601 in UTC, or an empty string when not set.')

export const pageNumber = z.coerce.number().int().min(1).default(1).describe('Page number, from 1.')

export function pageSize(defaultSize: number) {
  return z.coerce.number().int().min(1).max(100).default(defaultSize).describe('Items per page, 100 at most.')
}

/** One line of text without characters that PostgreSQL, ClickHouse or NATS can't store. */
export function plainText(most: number) {
  return z
    .string()
    .max(most)
    .refine((text) => !/[\p{Cc}\p{Cs}]/u.test(text), 'it has a control character or half of a surrogate pair')
}

/** Caps a sum at 2^53 - 1, the largest exact JSON number. */
export function boundedSum(sum: bigint | number | string): number {
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(sum)))
}

export const sortOrder = z.enum(['asc', 'desc'])

/** Query parameters of a list endpoint besides its filters; the first name is the default sort column. */
export function listing<const Names extends readonly [string, ...string[]]>(
  size: number,
  names: Names,
  order: 'asc' | 'desc',
) {
  const first = names[0] as Names[number]
  return {
    sortBy: z
      .enum(names)
      .default(first as never)
      .describe('Sort column.'),
    sortOrder: sortOrder.default(order).describe('Sort order: ascending or descending.'),
    page: pageNumber,
    pageSize: pageSize(size),
  }
}

/** Parses `true` or `false` in a query string. */
export const booleanText = z
  .stringbool({ truthy: ['true', '1'], falsy: ['false', '0'], case: 'sensitive' })
  .meta({ type: 'boolean' })

/** A boolean query parameter with a default, stated twice because the OpenAPI document would lose it. */
export function booleanDefault(value: boolean) {
  return booleanText.default(value).meta({ type: 'boolean', default: value })
}

/** A filter parameter: one value, several separated by commas (match any), or a value prefixed with `-` (exclude). */
export function advancedFilter(description: string) {
  return z
    .string()
    .optional()
    .describe(
      `${description} Takes one value, several separated by commas (\`\\,\` is a comma within a value), or a value prefixed with \`-\` to exclude it.`,
    )
}

/** A parameter with several values: a repeated name, or one text separated by commas. */
export function listParameter(description: string, most = 100) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value) =>
      [value]
        .flat()
        .flatMap((text) => text.split(','))
        .map((text) => text.trim())
        .filter(Boolean),
    )
    .pipe(z.array(z.string()).max(most))
    .describe(description)
    .meta({ type: 'array', items: { type: 'string' } })
}

/** Headers of an operation that changes an object only if nobody else has changed it meanwhile. */
const ifMatchHeaders = z.object({
  'If-Match': z
    .string()
    .optional()
    .describe('`ETag` of the object as you read it: if somebody has changed the object since, the response is 409.'),
})
const entityTagHeader = {
  ETag: 'Identifies the values of the object; send it as `If-Match` to change these values and no others.',
} as const

/** The headers of an operation that reads a single object, and of one that changes it. */
export const taggedRead = { responseHeaders: entityTagHeader } as const
export const taggedWrite = { headers: ifMatchHeaders, ...taggedRead } as const

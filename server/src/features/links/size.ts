import type { Config } from '../../platform/config.ts'
import { invalid } from '../../platform/errors.ts'
import type { LinkColumns } from './store.ts'

/** The columns that a client fills, by the name of their field. */
const fields: Partial<Record<keyof LinkColumns, string>> = {
  url: 'url',
  geo: 'geo',
  test_variants: 'testVariants',
  ios: 'ios',
  android: 'android',
  expired_url: 'expiredUrl',
  image: 'image',
  video: 'video',
  title: 'title',
  description: 'description',
  comments: 'comments',
  external_id: 'externalId',
  tenant_id: 'tenantId',
  webhook_ids: 'webhookIds',
}

/**
 * Refuses a link that is larger than LINK_MAX_BYTES in all, and names its largest field. A link that was larger before
 * the limit was there may stay so, and shrink.
 */
export function requireSmallLink(
  { LINK_MAX_BYTES: limit }: Pick<Config, 'LINK_MAX_BYTES'>,
  link: Partial<LinkColumns>,
  before: Partial<LinkColumns> = {},
): void {
  const sizes = measure(link)
  const total = sum(sizes)
  if (total <= limit || total <= sum(measure(before))) return
  const [name, bytes] = sizes.reduce((largest, field) => (field[1] > largest[1] ? field : largest))
  throw invalid(
    `The link has ${total} bytes in all, more than the ${limit} of LINK_MAX_BYTES. Shorten \`${name}\` in the body, which has ${bytes}.`,
  )
}

function measure(link: Partial<LinkColumns>): [name: string, bytes: number][] {
  return Object.entries(fields).map(([column, name]) => {
    const value = link[column as keyof LinkColumns]
    return [name, value === null || value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))]
  })
}

function sum(sizes: [string, number][]): number {
  return sizes.reduce((total, [, bytes]) => total + bytes, 0)
}

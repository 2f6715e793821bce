import { type ClickKeys, mintClickId } from '../click-ids/service.ts'
import type { RawClick } from '../redirect/messages.ts'

export const clickCount = 1_200
const dayMs = 86_400_000
const days = 30
const leadShare = 0.06
const saleShare = 0.4

export type SampleLink = { key: string; url: string; title: string; tag: string }

/** Links of a shop that does not exist. */
export const sampleLinks: SampleLink[] = [
  ['launch', '/launch?utm_source=newsletter&utm_medium=email&utm_campaign=launch', 'Launch announcement', 'Newsletter'],
  ['pricing', '/pricing?utm_source=ads&utm_medium=cpc&utm_campaign=pricing', 'Pricing page', 'Ads'],
  ['tour', '/tour?utm_source=video&utm_medium=social', 'Product tour', 'Social'],
  ['webinar', '/webinar?utm_source=social&utm_medium=post', 'Webinar', 'Social'],
  ['poster', '/events/berlin?utm_source=poster&utm_medium=print', 'Poster in Berlin', 'Print'],
  ['spring', '/offers/spring?utm_source=ads&utm_medium=cpc&utm_campaign=spring', 'Spring offer', 'Ads'],
  ['podcast', '/podcast?utm_source=podcast&utm_medium=audio', 'Podcast episode', 'Social'],
  ['guide', '/guide?utm_source=newsletter&utm_medium=email&utm_campaign=guide', 'Getting started', 'Newsletter'],
].map(([key = '', path = '', title = '', tag = '']) => ({ key, url: `https://www.example.com${path}`, title, tag }))

const locations = [
  ['DE', 'DE-BE', 'Berlin'],
  ['DE', 'DE-HH', 'Hamburg'],
  ['US', 'US-NY', 'New York'],
  ['US', 'US-CA', 'San Francisco'],
  ['GB', 'GB-LND', 'London'],
  ['FR', 'FR-IDF', 'Paris'],
  ['ES', 'ES-MD', 'Madrid'],
  ['JP', 'JP-13', 'Tokyo'],
  ['BR', 'BR-SP', 'São Paulo'],
]
const userAgents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Safari/605.1.15',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
]
const referrers = ['', '', 'https://www.google.com/', 'https://www.linkedin.com/feed/', 'https://www.youtube.com/']
const names = ['Ada', 'Ben', 'Chloe', 'Deniz', 'Emil', 'Farah', 'Greta', 'Hugo', 'Ines', 'Jonas', 'Kim', 'Lena']
const plans = [1_900, 4_900, 9_900, 29_900]

type Target = { number: bigint; workspaceId: string; url: string }

/** The clicks of the last 30 days. The same workspace and time give the same clicks, so that a repeat changes nothing. */
export function planClicks(keys: ClickKeys, links: Target[], end: Date): RawClick[] {
  const random = repeatable(links[0]?.workspaceId ?? '')
  const pick = <T>(items: T[]): T => items[Math.floor(random() * items.length)] as T
  const clicks = Array.from({ length: clickCount }, (_, index): RawClick => {
    const link = links[Math.floor(random() ** 2 * links.length)] as Target
    const [country = '', region = '', city = ''] = pick(locations)
    // More visitors come later, because a shop grows.
    const at = Math.floor(end.getTime() - dayMs * days * (1 - Math.sqrt(random())))
    // The network 198.18.0.0/15 is reserved for tests.
    const visitor = { ip: `198.18.${index >> 8}.${index & 255}`, userAgent: pick(userAgents), at }
    return {
      ...{ id: mintClickId(keys, { ...visitor, linkNumber: link.number }), workspaceId: link.workspaceId },
      ...{ linkNumber: String(link.number), url: link.url, trigger: random() < 0.15 ? 'qr' : 'link' },
      ...{ referer: pick(referrers), bot: '', country, region, city, continent: '' },
      ...visitor,
    }
  })
  return clicks.sort((one, other) => one.at - other.at)
}

export type SampleCustomer = { externalId: string; name: string; click: RawClick; leadAt: Date; sales: SampleSale[] }
type SampleSale = { amount: number; at: Date; invoiceId: string }

/** Customers who came by some of the clicks, and what they paid. */
export function planCustomers(clicks: RawClick[], end: Date): SampleCustomer[] {
  const random = repeatable(`${clicks[0]?.workspaceId} customers`)
  const pick = <T>(items: T[]): T => items[Math.floor(random() * items.length)] as T
  const soon = (at: number, mostMs: number) => new Date(Math.min(end.getTime(), at + Math.floor(random() * mostMs)))
  return clicks
    .filter(() => random() < leadShare)
    .map((click, index) => {
      const leadAt = soon(click.at, 3_600_000)
      const amount = pick(plans)
      const isSold = random() < saleShare
      return {
        ...{ externalId: `sample-${index + 1}`, name: `${pick(names)} Sample`, click, leadAt },
        sales: isSold ? [{ amount, at: soon(leadAt.getTime(), 2 * dayMs), invoiceId: `sample-${index + 1}` }] : [],
      }
    })
}

/** A generator of numbers from 0 to 1 that depends on the seed alone. */
function repeatable(seed: string): () => number {
  let state = [...seed].reduce((sum, character) => (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) >>> 0, 7)
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

import { type ClickKeys, mintClickId } from '../server/src/features/click-ids/service.ts'
import { clicksSubject, type RawClick } from '../server/src/features/redirect/messages.ts'
import type { Platform } from '../server/src/platform/context.ts'
import { hashPartition } from '../server/src/platform/ids.ts'
import { jetStream } from '../server/src/platform/nats.ts'

type GeoLocation = [country: string, region: string, city: string]
export type Target = { number: bigint; workspaceId: string; url: string }

const locations: GeoLocation[] = [
  ['US', 'US-CA', 'San Francisco'],
  ['US', 'US-NY', 'New York'],
  ['US', 'US-TX', 'Austin'],
  ['DE', 'DE-BE', 'Berlin'],
  ['DE', 'DE-BY', 'Munich'],
  ['GB', 'GB-LND', 'London'],
  ['FR', 'FR-IDF', 'Paris'],
  ['ES', 'ES-MD', 'Madrid'],
  ['IN', 'IN-KA', 'Bengaluru'],
  ['JP', 'JP-13', 'Tokyo'],
  ['BR', 'BR-SP', 'São Paulo'],
  ['CA', 'CA-ON', 'Toronto'],
  ['AU', 'AU-NSW', 'Sydney'],
  ['NG', 'NG-LA', 'Lagos'],
  ['NL', 'NL-NH', 'Amsterdam'],
  ['SE', 'SE-AB', 'Stockholm'],
]

const userAgents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Safari/605.1.15',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (iPad; CPU OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0',
]

const referrers = [
  '',
  '',
  '',
  'https://www.google.com/',
  'https://news.ycombinator.com/item?id=1',
  'https://www.linkedin.com/feed/',
  'https://t.co/abc',
  'https://www.youtube.com/watch?v=demo',
  'https://mail.example.org/inbox',
]

const messageClicks = 100

type Span = {
  count: number
  /** Number of the first visitor; other numbers give other visitors. */
  first: number
  from: number
  to: number
}

/**
 * Generates clicks of varied visitors, ordered by time and deterministic. Earlier links in the list get more clicks.
 */
export function pastClicks(keys: ClickKeys, links: Target[], { count, first, from, to }: Span): RawClick[] {
  const random = repeatable(20 + first)
  const pick = <T>(items: T[]): T => items[Math.floor(random() * items.length)] as T
  const clicks = Array.from({ length: count }, (_, index) => {
    const link = links[Math.floor(random() ** 2 * links.length)] as Target
    const [country, region, city] = pick(locations)
    const visitor = {
      ip: visitorAddress(first + index),
      userAgent: pick(userAgents),
      at: Math.floor(from + random() * (to - from)),
    }
    return {
      id: mintClickId(keys, { ...visitor, linkNumber: link.number }),
      workspaceId: link.workspaceId,
      linkNumber: String(link.number),
      url: link.url,
      trigger: random() < 0.15 ? ('qr' as const) : ('link' as const),
      referer: pick(referrers),
      bot: '',
      country,
      region,
      city,
      continent: '',
      ...visitor,
    }
  })
  return clicks.sort((a, b) => a.at - b.at)
}

export async function sendToLog(platform: Platform, workspaceId: string, clicks: RawClick[]): Promise<void> {
  const partition = hashPartition(workspaceId, platform.config.EVENT_PARTITIONS)
  const stream = jetStream(platform.nats)
  for (let start = 0; start < clicks.length; start += messageClicks) {
    await stream.publish(clicksSubject(partition), JSON.stringify(clicks.slice(start, start + messageClicks)))
  }
}

// Returns a different IP address for each click, so that no click is a repeat visit.
function visitorAddress(index: number): string {
  return `198.${18 + ((index >> 16) % 238)}.${(index >> 8) & 255}.${index & 255}`
}

function repeatable(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

import { z } from 'zod'
import { linksByNumber } from '../../links/service.ts'
import { oneLine, type Section } from '../compose.ts'
import type { Recipient } from '../recipients.ts'
import type { UnusualDay } from '../unusual.ts'
import { formatChange, formatCount, formatDate, pageUrl } from './format.ts'

const mostLinks = 10
const longestName = 60
const unusualFacts = z.object({
  days: z.array(z.object({ link: z.string().regex(/^\d+$/), clicks: z.number(), usual: z.number() })),
})

/** What is stored of unusual days; who may see which links is decided when the e-mail is written. */
export function presentFacts(days: UnusualDay[]): z.infer<typeof unusualFacts> {
  return { days: days.map(({ linkNumber, clicks, usual }) => ({ link: String(linkNumber), clicks, usual })) }
}

/** Names the most striking links that this person may see. */
export async function describeUnusualClicks(
  recipient: Recipient,
  { occasion, facts }: { occasion: string; facts: unknown },
): Promise<Section | undefined> {
  const { days } = unusualFacts.parse(facts)
  const links = await linksByNumber(
    recipient.ctx,
    days.map(({ link }) => BigInt(link)),
    'inUse',
  )
  const shown = days
    .flatMap((day) => {
      const link = links.get(BigInt(day.link))
      return link ? [{ ...day, link }] : []
    })
    .slice(0, mostLinks)
  const [first] = shown
  if (!first) return undefined
  const name = ({ link }: (typeof shown)[number]) => oneLine(link.shortLink.replace(/^https?:\/\//, ''), longestName)
  const rows = shown.map((day) => [
    name(day),
    formatCount(day.clicks),
    formatCount(day.usual),
    formatChange(day.clicks, day.usual),
  ])
  const date = formatDate(occasion)
  const verb = first.clicks > first.usual ? 'rose' : 'fell'
  return {
    title:
      shown.length === 1 ? `Clicks of ${name(first)} ${verb} unusually` : `Unusual clicks of ${shown.length} links`,
    sentences: [`These links had far more or fewer clicks on ${date} than on the same weekday of the weeks before.`],
    tables: [{ title: 'Links', head: ['Link', 'clicks', 'usually', 'change'], rows }],
    action:
      shown.length === 1
        ? { label: 'Open the link', url: pageUrl(recipient, `links/${first.link.id}`) }
        : { label: 'Open analytics', url: pageUrl(recipient, 'analytics') },
  }
}

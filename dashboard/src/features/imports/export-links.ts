import type { OperationAnswer, OperationInput } from '@tributary/contract/client'
import { call } from '../../app/call.ts'
import { repeat } from './chunks.ts'
import { formatCsv, saveCsv } from './csv.ts'

type Link = OperationAnswer<'getLinks'>[number]
type LinksQuery = NonNullable<OperationInput<'getLinks'>['query']>

const columns: [heading: string, read: (link: Link) => string | number | boolean | null][] = [
  ['shortLink', ({ shortLink }) => shortLink],
  ['domain', ({ domain }) => domain],
  ['key', ({ key }) => key],
  ['url', ({ url }) => url],
  ['title', ({ title }) => title],
  ['description', ({ description }) => description],
  ['comments', ({ comments }) => comments],
  ['tags', ({ tags }) => tags?.map(({ name }) => name).join(', ') ?? ''],
  ['folderId', ({ folderId }) => folderId],
  ['externalId', ({ externalId }) => externalId],
  ['expiresAt', ({ expiresAt }) => expiresAt],
  ['expiredUrl', ({ expiredUrl }) => expiredUrl],
  ['ios', ({ ios }) => ios],
  ['android', ({ android }) => android],
  ['utm_source', (link) => link.utm_source],
  ['utm_medium', (link) => link.utm_medium],
  ['utm_campaign', (link) => link.utm_campaign],
  ['utm_term', (link) => link.utm_term],
  ['utm_content', (link) => link.utm_content],
  ['archived', ({ archived }) => archived],
  ['clicks', ({ clicks }) => clicks],
  ['leads', ({ leads }) => leads],
  ['sales', ({ sales }) => sales],
  ['saleAmount', ({ saleAmount }) => saleAmount],
  ['createdAt', ({ createdAt }) => createdAt],
]

/** Reads all links that match, a hundred at a time, and saves them as CSV; without passwords. Returns their number. */
export async function exportLinks(query: LinksQuery, workspace: string): Promise<number> {
  const { signal } = new AbortController()
  const rows: string[][] = []
  for (let cursor: string | undefined, isLast = false; !isLast; ) {
    const input = { query: { ...query, pageSize: 100, ...(cursor && { startingAfter: cursor }) } }
    const page: Link[] = await repeat(() => call('getLinks', input, workspace), signal)
    for (const link of page) rows.push(columns.map(([, read]) => String(read(link) ?? '')))
    cursor = page.at(-1)?.id
    isLast = page.length < 100
  }
  const day = new Date().toISOString().slice(0, 10)
  saveCsv(`links-${workspace}-${day}.csv`, formatCsv([columns.map(([heading]) => heading), ...rows]))
  return rows.length
}

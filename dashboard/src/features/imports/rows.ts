import type { Target } from './columns.ts'

/** A file with its headings and the rows below them. */
export type ImportedFile = { name: string; head: string[]; rows: string[][] }

/** A row of the file as a link: what `POST /links/bulk` takes, with names instead of ids of tags and folder. */
export type ImportedRow = {
  /** The line in the file, as a spreadsheet numbers it. */
  line: number
  link: Record<string, unknown> & { url: string; domain?: string; key?: string }
  tags: string[]
  folder: string
  problem?: 'url' | 'duplicate'
}

type Settings = {
  columns: Partial<Record<Target, number>>
  /** The domain of all links; else that of each row. */
  domain?: string
}

const plain = ['title', 'description', 'comments', 'expiresAt', 'expiredUrl', 'password', 'ios', 'android'] as const
const tracked = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content', 'externalId'] as const

/** Turns the rows below the headings into links, and finds what can't be imported. */
export function readRows(rows: readonly string[][], { columns, domain }: Settings): ImportedRow[] {
  const seen = new Set<string>()
  return rows.map((cells, index) => {
    const read = (target: Target) => cells[columns[target] ?? -1]?.trim() ?? ''
    const short = parseShortUrl(read('shortUrl'))
    const link: ImportedRow['link'] = { url: read('url') }
    const key = read('key').replace(/^\/+/, '') || short.key
    const ownDomain = domain ?? (read('domain') || short.domain)
    if (ownDomain) link.domain = ownDomain
    if (key) link.key = key
    for (const name of [...plain, ...tracked]) if (read(name)) link[name] = read(name)
    if (/^(true|yes|1|archived)$/i.test(read('archived'))) link.archived = true
    const row: ImportedRow = { line: index + 2, link, tags: splitTags(read('tags')), folder: read('folder') }
    const problem = findProblem(link, seen)
    return problem ? { ...row, problem } : row
  })
}

/** The domains that rows name, for which the workspace may have none. */
export function namedDomains(rows: readonly string[][], columns: Settings['columns']): string[] {
  const found = readRows(rows, { columns }).flatMap(({ link }) => (link.domain ? [link.domain] : []))
  return [...new Set(found)]
}

function findProblem({ url, domain = '', key }: ImportedRow['link'], seen: Set<string>): ImportedRow['problem'] {
  if (!/^[a-z][a-z0-9+.-]*:\S+$/i.test(url)) return 'url'
  const address = `${domain}/${key ?? ''}`.toLowerCase()
  if (key && seen.has(address)) return 'duplicate'
  seen.add(address)
  return undefined
}

/** Domain and key of a short URL, also without its scheme. */
function parseShortUrl(text: string): { domain?: string; key?: string } {
  const url = /^(https?:\/\/)?[^\s/]+\.[^\s/]+\/./i.test(text)
    ? URL.parse(text.replace(/^(?!https?:)/i, 'https://'))
    : null
  return url ? { domain: url.host, key: decodeURIComponentSafely(url.pathname.slice(1)) } : {}
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Tags as services export them: `a, b`, `a;b`, `a|b` or `["a","b"]`. */
function splitTags(text: string): string[] {
  const names = text
    .replace(/^\[|\]$/g, '')
    .split(/[,;|]/)
    .map((name) =>
      name
        .trim()
        .replace(/^["']|["']$/g, '')
        .slice(0, 50),
    )
  return [...new Set(names.filter(Boolean))]
}

import type { Metatags } from '@tributary/contract/metatags'

const longest = { title: 500, description: 1_000, image: 2_000 } as const
const names = {
  title: ['og:title', 'twitter:title'],
  description: ['og:description', 'description', 'twitter:description'],
  image: ['og:image', 'og:image:url', 'twitter:image', 'twitter:image:src'],
} as const

/** Reads a page's title, description and image from its HTML; `address` is the page's URL. */
export function parseMetatags(bytes: Uint8Array, contentType: string, address: string): Metatags {
  if (!/^\s*(text\/html|application\/xhtml\+xml)\b/i.test(contentType)) {
    return { title: null, description: null, image: null }
  }
  const html = decodePage(bytes, contentType)
  const tags = readTags(html)
  const [, title] = /<title\b[^<>]{0,500}>([^<]{1,5000})/i.exec(html) ?? []
  const first = (field: keyof typeof names) => names[field].map((name) => tags.get(name)).find(Boolean)
  return {
    title: clean(first('title') ?? title, longest.title),
    description: clean(first('description'), longest.description),
    image: imageAddress(clean(first('image'), longest.image), address),
  }
}

const mostElements = 1_000
// A name begins where no name is: otherwise a long word without a value would be read again from each of its letters.
const attribute = /(?<![\w:-])([\w:-]{1,50})\s{0,10}=\s{0,10}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g

/** The content of each `<meta>` by name; the first tag of a name wins. */
function readTags(html: string): Map<string, string> {
  const tags = new Map<string, string>()
  for (const given of readElements(html, 'meta')) {
    const name = (given.get('property') ?? given.get('name') ?? '').toLowerCase()
    const content = given.get('content')
    if (name && content && !tags.has(name)) tags.set(name, content)
  }
  return tags
}

/** The attributes of the first elements with this name. Takes linear time. */
export function readElements(html: string, name: string): Map<string, string>[] {
  const elements = html.matchAll(new RegExp(`<${name}\\b([^<>]{1,2500})>`, 'gi')).take(mostElements)
  return [...elements].map(([, attributes = '']) => {
    const given = new Map<string, string>()
    for (const match of attributes.matchAll(attribute)) {
      given.set(String(match[1]).toLowerCase(), match[2] ?? match[3] ?? match[4] ?? '')
    }
    return given
  })
}

export function decodePage(bytes: Uint8Array, contentType: string): string {
  const start = Buffer.from(bytes.subarray(0, 2_048)).toString('latin1')
  const charset = /charset\s{0,5}=\s{0,5}["']?([\w-]{1,40})/i
  const label = charset.exec(contentType)?.[1] ?? charset.exec(start)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(label).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

function clean(text: string | undefined, most: number): string | null {
  const decoded = (text ?? '').replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi,
    (whole, decimal, hex, name) => {
      if (name) return entities[String(name).toLowerCase()] ?? whole
      const code = decimal ? Number(decimal) : Number.parseInt(hex, 16)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
    },
  )
  const line = decoded
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  return line === '' ? null : line.slice(0, most).toWellFormed()
}

function imageAddress(text: string | null, address: string): string | null {
  const url = text === null ? null : URL.parse(text, address)
  return url && /^https?:$/.test(url.protocol) && url.href.length <= longest.image ? url.href : null
}

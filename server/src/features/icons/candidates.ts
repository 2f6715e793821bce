const mostCandidates = 2

/** Returns the URLs of a page's icons, the best first; `address` is the page's URL. Takes linear time. */
export function findIconUrls(html: string, address: string): string[] {
  const found: { url: string; rank: number }[] = []
  for (const [, attributes = ''] of html.matchAll(/<link\b([^<>]{1,2500})>/gi)) {
    const given = readAttributes(attributes)
    const rel = (given.get('rel') ?? '').toLowerCase().split(/\s+/)
    const isIcon = rel.includes('icon')
    if (!isIcon && !rel.includes('apple-touch-icon')) continue
    const href = given.get('href')?.replaceAll('&amp;', '&')
    const url = href ? URL.parse(href, address) : null
    if (!url || !/^https?:$/.test(url.protocol) || url.href.length > 2_000) continue
    // SVG is never served: it can contain scripts.
    if (/svg/i.test(given.get('type') ?? '') || /\.svg$/i.test(url.pathname)) continue
    found.push({ url: url.href, rank: rankSize(given.get('sizes') ?? '') + (isIcon ? 0 : 1) })
  }
  const sorted = found.sort((one, other) => one.rank - other.rank).map(({ url }) => url)
  return [...new Set(sorted)].slice(0, mostCandidates)
}

/** Sizes near 64 pixels are the sharpest small icons; an unknown size is usually small. */
function rankSize(sizes: string): number {
  const size = Number(/(\d{1,4})x\d/i.exec(sizes)?.[1] ?? 16)
  return size >= 32 ? Math.abs(size - 64) : 200 - size
}

function readAttributes(text: string): Map<string, string> {
  const given = new Map<string, string>()
  for (const match of text.matchAll(/([\w:-]{1,50})\s{0,10}=\s{0,10}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g)) {
    given.set(String(match[1]).toLowerCase(), match[2] ?? match[3] ?? match[4] ?? '')
  }
  return given
}

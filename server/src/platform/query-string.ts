import querystring from 'node:querystring'

/** Absent in the types of Node.js: percent-decodes an ASCII text. */
const { unescapeBuffer } = querystring as unknown as { unescapeBuffer(text: string): Buffer }

type Pair = [name: string, value: string]

/**
 * Decodes a name or value of a query string or form. URLSearchParams decodes alike, but throws and catches an error inside for
 * each text that is not valid UTF-8: a request of 16 kB took half a second.
 */
export function decodeForm(text: string): string {
  if (!/[%+]/.test(text)) return text.toWellFormed()
  const spaced = text.replaceAll('+', ' ').toWellFormed()
  return unescapeBuffer(spaced.replaceAll(/[^\0-\u007f]+/g, encodeURIComponent)).toString()
}

/** The encoded parameters of a query string, without empty ones; at most the first `most`. */
export function splitQuery(query: string, most: number): string[] {
  const pairs = query.split('&').filter((pair) => pair !== '')
  return pairs.length > most ? pairs.slice(0, most) : pairs
}

/** The parameters of a query string or form, in order; at most the first `most`. */
export function parseParameters(query: string, most = Number.POSITIVE_INFINITY): Pair[] {
  return splitQuery(query, most).map((pair): Pair => {
    const [name, value] = divide(pair)
    return [decodeForm(name), decodeForm(value)]
  })
}

/** The first value of each name in a query string; null without one. Decodes only names, and the values it returns. */
export function readParameters<Name extends string>(
  query: string,
  names: readonly Name[],
): Record<Name, string | null> {
  const found = Object.fromEntries(names.map((name) => [name, null])) as Record<Name, string | null>
  for (const pair of query.split('&')) {
    const [encoded, value] = divide(pair)
    const name = decodeForm(encoded) as Name
    if (found[name] === null) found[name] = decodeForm(value)
  }
  return found
}

/** Sets query parameters of a URL: a text sets one, null removes it, undefined keeps it. */
export function withParameters(url: string, parameters: Record<string, string | null | undefined>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
  if (given.length === 0) return url
  const target = new URL(url)
  const all = new URLSearchParams(parseParameters(target.search.slice(1)))
  for (const [name, value] of given) {
    if (value) all.set(name, value)
    else all.delete(name)
  }
  target.search = all.toString()
  return target.href
}

/** The part of a URL behind the question mark, without the fragment. */
export function cutQuery(url: string): string {
  const hash = url.indexOf('#')
  const beforeHash = hash === -1 ? url : url.slice(0, hash)
  const start = beforeHash.indexOf('?')
  return start === -1 ? '' : beforeHash.slice(start + 1)
}

function divide(pair: string): Pair {
  const end = pair.indexOf('=')
  return end === -1 ? [pair, ''] : [pair.slice(0, end), pair.slice(end + 1)]
}

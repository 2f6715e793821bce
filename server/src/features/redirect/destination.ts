import { clickLimits, fitParameters } from './raw-click.ts'

export type Target = { isApp: boolean; url: string }

const plainWebAddress = /^https?:\/\/[!-~]+$/
const webAddress = /^https?:/
const never = new Set(
  'about: blob: chrome: data: file: filesystem: jar: javascript: resource: vbscript: view-source:'.split(' '),
)
// A visitor who sends these must not have them passed on: a password is not for the destination.
const secrets = new Set(['pw', 'password'])

/** Where a stored address leads, in a form that fits a header; null when nobody may be sent there. */
export function parseTarget(stored: string): Target | null {
  if (plainWebAddress.test(stored)) return { isApp: false, url: stored }
  const parsed = URL.parse(stored)
  if (!parsed || never.has(parsed.protocol)) return null
  return { isApp: !webAddress.test(parsed.protocol), url: parsed.href }
}

/**
 * The destination with the parameters of the visitor, who may replace those of the owner, but never the click id. An
 * app gets none of them: there a parameter can be whom to call or what to write. Nothing else of the address changes.
 */
export function withVisitorQuery(
  target: Target,
  query: string,
  clickParameter: string,
  choose = (pairs: string[]) => pairs,
): string {
  const given = target.isApp || query === '' ? [] : passedOn(query, clickParameter)
  if (given.length === 0 && !target.url.includes(clickParameter)) return target.url
  const replaced = new Set(given.map(parameterName)).add(clickParameter)
  const { address, own, fragment } = splitUrl(target.url)
  const remaining = own === '' ? [] : own.split('&').filter((pair) => !replaced.has(parameterName(pair)))
  const all = [...remaining, ...choose(given)].join('&')
  return `${address}${all && '?'}${all}${fragment}`
}

/** The same as the log keeps it: with what fits of the visitor's parameters. */
export function withLoggedQuery(target: Target, query: string, clickParameter: string, destination: string): string {
  if (query.length * 3 < clickLimits.query) return destination
  return withVisitorQuery(target, query, clickParameter, fitParameters)
}

/** Opaque addresses such as `mailto:` have no place for it. */
export function withClickId(url: string, parameter: string, id: string): string {
  if (!url.includes('://')) return url
  const { address, own, fragment } = splitUrl(url)
  return `${address}?${own}${own && '&'}${parameter}=${id}${fragment}`
}

/** Null when it is no proper encoding of text. */
export function decoded(text: string): string | null {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function passedOn(query: string, clickParameter: string): string[] {
  const click = clickParameter.toLowerCase()
  return query
    .replaceAll(/[^!-~]|#/gu, encoded)
    .split('&')
    .filter((pair) => {
      const name = parameterName(pair).toLowerCase()
      return name !== '' && name !== click && !secrets.has(name) && pair !== 'qr=1'
    })
}

/** As the destination will read it. */
function parameterName(pair: string): string {
  const end = pair.indexOf('=')
  const name = end === -1 ? pair : pair.slice(0, end)
  if (!/[%+]/.test(name)) return name
  // The first & keeps a question mark from being taken off.
  return new URLSearchParams(`&${name}`).keys().next().value ?? ''
}

function splitUrl(url: string): { address: string; own: string; fragment: string } {
  const hash = url.indexOf('#')
  const end = hash === -1 ? url.length : hash
  const mark = url.indexOf('?')
  const query = mark === -1 || mark > end ? end : mark
  return { address: url.slice(0, query), own: url.slice(query + 1, end), fragment: url.slice(end) }
}

/** Node gives the bytes of an address as characters of their own. */
function encoded(character: string): string {
  const code = character.codePointAt(0) as number
  if (code > 255) return encodeURIComponent(character.toWellFormed())
  return `%${code.toString(16).toUpperCase().padStart(2, '0')}`
}

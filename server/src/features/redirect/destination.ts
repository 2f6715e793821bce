import { decodeForm, splitQuery } from '../../platform/query-string.ts'
import { clickLimits, fitParameters } from './raw-click.ts'

export type Target = { isApp: boolean; url: string }

const plainWebAddress = /^https?:\/\/[!-~]+$/
const webAddress = /^https?:/
const never = new Set(
  'about: blob: chrome: data: file: filesystem: jar: javascript: resource: vbscript: view-source:'.split(' '),
)
// Query parameters that are never passed on to the destination, because they may contain the visitor's password.
const secrets = new Set(['pw', 'password'])
// Of a visitor's query, the first ones are passed on: each takes time of the process that all visitors share.
const mostParameters = 500

/** Parses a stored destination URL for the `Location` header; null when its scheme is not allowed. */
export function parseTarget(stored: string): Target | null {
  if (plainWebAddress.test(stored)) return { isApp: false, url: stored }
  const parsed = URL.parse(stored)
  if (!parsed || never.has(parsed.protocol)) return null
  return { isApp: !webAddress.test(parsed.protocol), url: parsed.href }
}

/**
 * Adds the visitor's query parameters to the destination URL. They replace parameters of the same name, except the
 * click id. An app URL such as `sms:` gets none, because a parameter could change whom to call or what to write.
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

/** The destination URL for the event log: with as many of the visitor's query parameters as fit its size limit. */
export function withLoggedQuery(target: Target, query: string, clickParameter: string, destination: string): string {
  if (query.length * 3 < clickLimits.query) return destination
  return withVisitorQuery(target, query, clickParameter, fitParameters)
}

/** Adds the click id to a destination URL, except to opaque URLs such as `mailto:`. */
export function withClickId(url: string, parameter: string, id: string): string {
  if (!url.includes('://')) return url
  const { address, own, fragment } = splitUrl(url)
  return `${address}?${own}${own && '&'}${parameter}=${id}${fragment}`
}

/** Decodes percent-encoding; null when it is invalid. */
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
  return splitQuery(query, mostParameters)
    .map((pair) => pair.replaceAll(/[^!-~]|#/gu, encoded))
    .filter((pair) => {
      const name = parameterName(pair).toLowerCase()
      return name !== '' && name !== click && !secrets.has(name) && pair !== 'qr=1'
    })
}

/** The name of a query parameter, decoded as the destination's server will decode it. */
function parameterName(pair: string): string {
  const end = pair.indexOf('=')
  return decodeForm(end === -1 ? pair : pair.slice(0, end))
}

function splitUrl(url: string): { address: string; own: string; fragment: string } {
  const hash = url.indexOf('#')
  const end = hash === -1 ? url.length : hash
  const mark = url.indexOf('?')
  const query = mark === -1 || mark > end ? end : mark
  return { address: url.slice(0, query), own: url.slice(query + 1, end), fragment: url.slice(end) }
}

/** Percent-encodes a character of a request URL; Node passes each byte of the URL as a character. */
function encoded(character: string): string {
  const code = character.codePointAt(0) as number
  if (code > 255) return encodeURIComponent(character.toWellFormed())
  return `%${code.toString(16).toUpperCase().padStart(2, '0')}`
}

import type { RedirectLink } from '../links/service.ts'

export type Visit = { method: string; query: string; purpose: string }
export type Page = 'not-found' | 'disabled' | 'expired'
export type Decision = {
  status: 302 | 404 | 405 | 410
  location?: string
  /** The location without the click id, which is another one for every visitor. */
  destination?: string
  page?: Page
  /** Whether this is a click of the link, and if it is not a person's, why. */
  record: boolean
  bot: string
  trigger: 'link' | 'qr'
}

/** Everything a redirect decides: values in, values out. */
export function decide(
  link: RedirectLink | null,
  visit: Visit,
  now: number,
  click: { id: string; parameter: string },
): Decision {
  const trigger = /(?:^|&)qr=1(?:&|$)/.test(visit.query) ? 'qr' : 'link'
  const refuse = (status: 404 | 405 | 410, page?: Page): Decision => ({ status, page, record: false, bot: '', trigger })
  if (visit.method !== 'GET' && visit.method !== 'HEAD') return refuse(405)
  if (!link) return refuse(404, 'not-found')
  if (link.disabledAt !== null) return refuse(410, 'disabled')
  if (link.expiresAt !== null && link.expiresAt <= now) {
    return link.expiredUrl
      ? { status: 302, location: link.expiredUrl, record: false, bot: '', trigger }
      : refuse(410, 'expired')
  }
  const location = link.trackConversion ? withParameter(link.url, click.parameter, click.id) : link.url
  const bot = visit.method === 'HEAD' ? 'head' : visit.purpose ? 'prefetch' : ''
  return { status: 302, location, destination: link.url, record: true, bot, trigger }
}

function withParameter(url: string, name: string, value: string): string {
  const target = new URL(url)
  // Setting a parameter writes the whole query anew, which would break one that is signed.
  if (target.searchParams.has(name)) target.searchParams.set(name, value)
  else target.search += `${target.search && '&'}${name}=${value}`
  return target.href
}

import type { NewClick, NewOpen, NewVisit, OpenResult } from '@tributary/contract/track-browser'
import type { Visitor } from '../../platform/client-address.ts'
import type { Platform } from '../../platform/context.ts'
import { AppError, badRequest, invalid } from '../../platform/errors.ts'
import type { Redirect } from '../redirect/service.ts'
import { requireAllowedPage } from '../workspaces/service.ts'
import { notePage } from './page-reports.ts'

/** The dependencies of click capture from pages and apps: the platform and the redirect service of this process. */
export type Capturing = Platform & { redirect: Redirect }
export type PageCaller = Visitor & { page: string }
type Found = NonNullable<Awaited<ReturnType<Redirect['openLink']>>>

const longestReferrer = 2_000

/** Records a click that a page reports. Returns after the click is stored. */
export async function trackClick(
  capturing: Capturing,
  { domain, key, url, referrer }: NewClick,
  caller: PageCaller,
): Promise<{ clickId: string }> {
  const { link } = await requireLink(capturing, domain, key === '_root' ? '' : key)
  await requireAllowedPage(capturing, link.workspaceId, caller.page)
  const clickId = await capture(capturing, link, cameFrom(caller, referrer), 'link', webAddress(url))
  await notePage(capturing, link.workspaceId, caller.page)
  return { clickId }
}

export async function trackVisit(
  capturing: Capturing,
  { domain, url, referrer }: NewVisit,
  caller: PageCaller,
): Promise<{ clickId: string }> {
  const { link } = await requireLink(capturing, domain, cutPath(new URL(url)))
  await requireAllowedPage(capturing, link.workspaceId, caller.page)
  const clickId = await capture(capturing, link, cameFrom(caller, referrer), 'pageview', url)
  await notePage(capturing, link.workspaceId, caller.page)
  return { clickId }
}

/** Records a click that opened an app. Allowed hostnames are not checked, because an app has no page. */
export async function trackOpen(
  capturing: Capturing,
  { deepLink, dubDomain }: NewOpen,
  caller: PageCaller,
): Promise<OpenResult> {
  if (!deepLink && !dubDomain) throw badRequest('`deepLink` in the body is missing. Send the link that opened the app.')
  // Without a deep link, the click could only be guessed from the IP address, which we don't do.
  if (!deepLink) return { clickId: null, link: null }
  const address = URL.parse(deepLink)
  if (!address?.hostname)
    throw invalid('`deepLink` in the body is not a valid URL. Send it as https://go.example.com/key.')
  const { domain, link } = await requireLink(capturing, address.hostname.toLowerCase(), cutPath(address))
  const clickId = await capture(capturing, link, caller, 'link', undefined)
  return { clickId, link: { id: link.id, domain, key: link.key, url: link.url } }
}

async function requireLink({ redirect }: Capturing, domain: string, path: string): Promise<Found> {
  const found = await redirect.openLink(domain, path)
  const short = found ? undefined : domain.replace(/^www\./, '')
  const known = found ?? (short && short !== domain ? await redirect.openLink(short, path) : null)
  if (known) return known
  throw new AppError('not_found', `There is no active public link ${JSON.stringify(`${domain}/${path}`)}.`)
}

async function capture(
  { redirect }: Capturing,
  link: Found['link'],
  visitor: Visitor,
  trigger: 'link' | 'pageview',
  url: string | undefined,
): Promise<string> {
  const id = await redirect.report(link, visitor, trigger, url)
  if (id) return id
  throw new AppError('internal_server_error', 'The click could not be stored. Try again later.')
}

/** Takes the referrer from the body: the request comes from the page, so its Referer header is the page itself. */
function cameFrom(caller: PageCaller, referrer: string | null | undefined): Visitor {
  return { ...caller, referer: (referrer ?? caller.referer).slice(0, longestReferrer) }
}

function webAddress(url: string | null | undefined): string | undefined {
  const address = URL.parse(url ?? '')
  return address && /^https?:$/.test(address.protocol) ? (url as string) : undefined
}

/** A URL's path in the form that the redirect looks up: decoded, without the leading slash. */
function cutPath({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname).slice(1)
  } catch {
    return pathname.slice(1)
  }
}

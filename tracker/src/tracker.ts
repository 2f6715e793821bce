export type Settings = {
  /** URL of the Tributary API, such as `https://api.example.com`. */
  api: string
  /** Query parameters that may carry the click id. The first one also decorates outbound links. */
  parameters?: string[]
  /** Name of the click id cookie; by default, the first of `parameters`. */
  cookie?: string
  /** Cookie domain, such as `example.com` for all its subdomains; by default, only the current host. */
  cookieDomain?: string
  cookieDays?: number
  /** Whether the visitor's first or last click gets the attribution. */
  attribution?: 'first-click' | 'last-click'
  /** Hosts to whose links the click id is added: `shop.example.com`, or `*.example.com` for subdomains. */
  outbound?: string[]
  /** A publishable key (`trib_pk_…`), for `trackLead` and `trackSale`. */
  key?: string
  /** Whether to do nothing for visitors whose browser sends Do-Not-Track or Global Privacy Control. */
  honourDoNotTrack?: boolean
}

export type Click = { domain: string; key: string; url?: string; referrer?: string }
export type Lead = { eventName: string; customerExternalId: string } & Details
export type Sale = { customerExternalId: string; amount: number; currency?: string; invoiceId?: string } & Details
type Details = { [field: string]: unknown }

export type Tracker = {
  /** Returns the visitor's click id, or null if none is known. */
  clickId(): string | null
  /** Tracks a click on a page that was reached without the redirect, and stores the click id. */
  trackClick(click: Click): Promise<string | null>
  /** `trackLead` and `trackSale` return `{}`, the only response to a publishable key, or null for a visitor who opted out. */
  trackLead(lead: Lead): Promise<unknown>
  trackSale(sale: Sale): Promise<unknown>
}

/** Replaced by the version of the package when the script is built. */
declare const VERSION: string

/** Stores the click id from the page's URL, and adds it to outbound links from now on. */
export function startTracker(settings: Settings): Tracker {
  const { api, parameters = ['trib_id'], cookieDomain, cookieDays = 90, attribution, outbound = [], key } = settings
  const [parameter] = parameters as [string]
  const cookie = settings.cookie || parameter
  const isOff =
    settings.honourDoNotTrack &&
    (navigator.doNotTrack === '1' || (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl)

  function clickId(): string | null {
    const found = isOff ? undefined : document.cookie.split('; ').find((pair) => pair.startsWith(`${cookie}=`))
    return found?.slice(cookie.length + 1) || null
  }

  function keep(id: string | null | undefined): void {
    if (isOff || !isClickId(id) || (attribution === 'first-click' && clickId())) return
    const domain = cookieDomain ? `;domain=${cookieDomain}` : ''
    const secure = location.protocol === 'https:' ? ';secure' : ''
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser
    document.cookie = `${cookie}=${id};path=/;max-age=${cookieDays * 86_400};samesite=lax${domain}${secure}`
  }

  async function track(path: string, input: object, withKey?: boolean): Promise<Details | null> {
    return isOff ? null : send(`track/${path}`, input, withKey)
  }

  async function send(path: string, input: object, withKey?: boolean): Promise<Details> {
    // A request without a key is sent as plain text, which needs no CORS preflight.
    const headers: Record<string, string> = withKey
      ? { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` }
      : { 'Content-Type': 'text/plain' }
    const body = JSON.stringify(input)
    const response = await fetch(`${api}/${path}`, { method: 'POST', headers, body, keepalive: true })
    const answer = await response.json()
    if (!response.ok) throw new Error(answer.error.message)
    return answer
  }

  const query = new URLSearchParams(location.search)
  keep(parameters.map((name) => query.get(name)).find(isClickId))

  // Somebody checks whether this page has the script. The report says nothing about the visitor, who asked for it.
  const check = query.get('trib_check')
  if (check) {
    const report = { check, path: location.pathname, version: VERSION, isOff: Boolean(isOff) }
    send('install-checks/reports', report).catch(console.error)
  }

  function decorate({ target }: Event): void {
    const link = (target as Element).closest?.('a[href]') as HTMLAnchorElement | null
    const id = link?.hostname && outbound.some((host) => covers(host, link.hostname)) && clickId()
    if (!id) return
    const address = new URL(link.href)
    address.searchParams.set(parameter, id)
    link.href = address.href
  }
  if (outbound.length > 0) for (const type of ['click', 'auxclick']) addEventListener(type, decorate, true)

  return {
    clickId,
    async trackClick(click) {
      const answer = await track('click', { url: location.href, referrer: document.referrer, ...click })
      const id = answer && (answer.clickId as string)
      keep(id)
      return id
    },
    trackLead: (lead) => track('lead', { clickId: clickId() ?? '', ...lead }, true),
    trackSale: (sale) => track('sale', { clickId: clickId(), ...sale }, true),
  }
}

function isClickId(text: string | null | undefined): boolean {
  return /^[\w-]{16,64}$/.test(text ?? '')
}

function covers(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern
}

import { createHash } from 'node:crypto'
import type { Config } from '../../platform/config.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { openAsyncMemo } from '../../platform/memo.ts'
import { fetchOutbound, OutboundError } from '../../platform/outbound.ts'
import { openConcurrencyLimit } from '../../platform/rate-limit.ts'
import { findIconUrls } from './candidates.ts'
import { readImageType } from './image-type.ts'

/** An image and how long it may be cached. */
export type Icon = { bytes: Buffer<ArrayBuffer>; type: string; hash: string; maxAgeSeconds: number }
export type Icons = {
  /** Returns the icon of a site, or the default icon; `visitor` may fetch a few sites at once. */
  find(host: string, visitor: string): Promise<Icon>
}

const timeoutMs = 5_000
const maxPageBytes = 262_144
const maxIconBytes = 131_072
const maxRedirects = 3
const maxFetching = 20
const maxFetchingPerVisitor = 6
const maxKnownBytes = 8 * 1_048_576
const maxAgeSeconds = 86_400
const defaultMaxAgeSeconds = 600

const defaultIcon: Icon = makeIcon(
  Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32" viewBox="0 0 32 32" fill="none" stroke="#71808a" stroke-width="2"><circle cx="16" cy="16" r="12"/><ellipse cx="16" cy="16" rx="5" ry="12"/><path d="M4 16h24"/></svg>',
  ),
  'image/svg+xml',
  defaultMaxAgeSeconds,
)

export function openIcons(config: Config): Icons {
  const withinLimit = openConcurrencyLimit(maxFetchingPerVisitor, tooMany)
  const known = openAsyncMemo<Icon>({
    maxBytes: maxKnownBytes,
    measure: ({ bytes }) => bytes.length,
    ttlMs: (icon) => icon.maxAgeSeconds * 1_000,
    admit(running) {
      if (running >= maxFetching) throw tooMany()
    },
  })

  return {
    async find(given, visitor) {
      const host = normalHost(given)
      return known(host, () => withinLimit(visitor, async () => (await fetchIcon(host, config)) ?? defaultIcon))
    },
  }
}

/** The media type of an image that browsers show without risk; undefined for SVG and all else. */
export function detectImageType(bytes: Buffer): string | undefined {
  return readImageType(bytes)
}

function normalHost(given: string): string {
  const url = /^[^\s/?#@\\]+$/.test(given) ? URL.parse(`http://${given}/`) : null
  if (url?.hostname && !url.username) return url.host
  throw invalid('`host` in the query must be a host name such as example.com, without a path.')
}

function tooMany(): AppError {
  return new AppError('rate_limit_exceeded', 'The server is fetching too many icons at once. Try again in 1 s.')
}

/** Fetches the icon that the site's page names, or else /favicon.ico; undefined if there is none. */
async function fetchIcon(host: string, config: Config): Promise<Icon | undefined> {
  const deadline = Date.now() + timeoutMs
  for (const scheme of ['https', 'http']) {
    const page = await fetchFollowing(`${scheme}://${host}/`, {
      deadline,
      maxBytes: maxPageBytes,
      cutsBody: true,
      config,
    })
    if (!page) continue
    const named = isHtml(page.type) ? findIconUrls(page.body.toString('latin1'), page.url) : []
    for (const url of [...named, new URL('/favicon.ico', page.url).href]) {
      const answer = await fetchFollowing(url, { deadline, maxBytes: maxIconBytes, cutsBody: false, config })
      const type = answer?.status === 200 ? readImageType(answer.body) : undefined
      if (answer && type) return makeIcon(answer.body, type, maxAgeSeconds)
    }
    return undefined
  }
  return undefined
}

type Fetching = { deadline: number; maxBytes: number; cutsBody: boolean; config: Config }
type Fetched = { url: string; status: number; type: string; body: Buffer }

/** Follows redirects, each checked by the outbound client. Undefined when the host can't be called. */
async function fetchFollowing(start: string, { deadline, config, ...limits }: Fetching): Promise<Fetched | undefined> {
  const headers = { accept: 'text/html, image/png, image/*', 'user-agent': 'Tributary' }
  let url = start
  try {
    for (let hop = 0; hop <= maxRedirects && Date.now() < deadline; hop++) {
      const options = { ...limits, timeoutMs: deadline - Date.now(), headers, allow: config }
      const { status, headers: answered, body } = await fetchOutbound(url, options)
      const next = URL.parse(String(answered.location ?? ''), url)
      if (status < 300 || status >= 400 || !answered.location || !next) {
        return { url, status, type: String(answered['content-type'] ?? ''), body }
      }
      url = next.href
    }
    return undefined
  } catch (error) {
    // The default icon, instead of an error that would reveal the server's network.
    if (error instanceof OutboundError) return undefined
    throw error
  }
}

function isHtml(type: string): boolean {
  return /^\s*(text\/html|application\/xhtml\+xml)\b/i.test(type)
}

function makeIcon(bytes: Buffer, type: string, maxAgeSeconds: number): Icon {
  const hash = createHash('sha256').update(bytes).digest('base64url')
  return { bytes: Buffer.from(bytes), type, hash, maxAgeSeconds }
}

import type { Metatags, PreviewImage } from '@tributary/contract/metatags'
import type { Config } from '../../platform/config.ts'
import type { Ctx } from '../../platform/context.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { memoByObject, openAsyncMemo } from '../../platform/memo.ts'
import { fetchOutbound, type OutboundAnswer, OutboundError } from '../../platform/outbound.ts'
import { openConcurrencyLimit } from '../../platform/rate-limit.ts'
import { detectImageType } from '../icons/service.ts'
import { decodePage, parseMetatags, readElements } from './parse.ts'

const timeoutMs = 5_000
/** Only this much of a page is read: the metatags are in its head. */
const maxBytes = 262_144
const maxRedirects = 3
const maxReading = 20
const maxReadingPerWorkspace = 6
/** More, because callers of `fetchPage` take turns by workspace below this limit, which bounds the memory. */
const maxFreshReading = 100
const maxKnownBytes = 4_000_000
const rememberMs = 600_000
const rememberFailureMs = 30_000
/** Repeated clicks read a page once; after a repair it is read again. */
const rememberFreshMs = 1_000
const nothing: Metatags = { title: null, description: null, image: null }
const maxImageBytes = 1_048_576
const maxKnownImageBytes = 8_000_000
const noImage: PreviewImage = { image: null }

const openPages = memoByObject((_: Config) =>
  openAsyncMemo<Metatags>({
    maxBytes: maxKnownBytes,
    ttlMs: (metatags) => (metatags === nothing ? rememberFailureMs : rememberMs),
    admit,
  }),
)

const openImages = memoByObject((_: Config) =>
  openAsyncMemo<PreviewImage>({
    maxBytes: maxKnownImageBytes,
    measure: ({ image }) => image?.length ?? 100,
    ttlMs: (image) => (image === noImage ? rememberFailureMs : rememberMs),
    admit,
  }),
)

const openFresh = memoByObject((_: Config) =>
  openAsyncMemo<{ page: FetchedPage | undefined }>({
    maxBytes: maxKnownBytes,
    ttlMs: () => rememberFreshMs,
    admit: admitFresh,
  }),
)

function admitFresh(running: number): void {
  admit(running, maxFreshReading)
}

function admit(running: number, most = maxReading): void {
  if (running >= most) throw tooMany()
}

function tooMany(): AppError {
  return new AppError('rate_limit_exceeded', 'The server is fetching too many pages at once. Try again in 1 s.')
}

const openWorkspaceLimit = memoByObject((_: Config) => openConcurrencyLimit(maxReadingPerWorkspace, tooMany))

type Caller = Pick<Ctx, 'config' | 'workspaceId'>

/** Fetches a page's metatags with the outbound client, which refuses private addresses of the server's network. */
export async function getMetatags({ config, workspaceId }: Caller, url: string): Promise<Metatags> {
  requireAddress(url)
  return openPages(config)(url, () => openWorkspaceLimit(config)(workspaceId, () => readPage(url, config)))
}

/** Fetches a public image as a data URL, with the same client. */
export async function getPreviewImage({ config, workspaceId }: Caller, url: string): Promise<PreviewImage> {
  requireAddress(url)
  return openImages(config)(url, () => openWorkspaceLimit(config)(workspaceId, () => readImage(url, config)))
}

function requireAddress(url: string, source: 'query' | 'body' = 'query'): void {
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return
  throw invalid(`\`url\` in the ${source} must be an absolute URL such as https://example.com/page.`)
}

export type FetchedPage = { url: string; status: number; headers: OutboundAnswer['headers']; body: Buffer }

/** Fetches the beginning of a page, with the same client. Undefined for one that can't be read. */
export async function fetchPage(ctx: Pick<Ctx, 'config'>, url: string): Promise<FetchedPage | undefined> {
  requireAddress(url, 'body')
  const { page } = await openFresh(ctx.config)(url, async () => ({ page: await fetchHtml(url, ctx.config) }))
  return page
}

/** The attributes of each element with this name in a page. */
export function findElements({ headers, body }: FetchedPage, name: string): ReadonlyMap<string, string>[] {
  return readElements(decodePage(body, String(headers['content-type'] ?? '')), name)
}

async function readPage(url: string, config: Config): Promise<Metatags> {
  const page = await fetchHtml(url, config)
  if (page?.status !== 200) return nothing
  return parseMetatags(page.body, String(page.headers['content-type'] ?? ''), page.url)
}

function fetchHtml(url: string, config: Config): Promise<FetchedPage | undefined> {
  return fetchFollowing(url, { accept: 'text/html, application/xhtml+xml', maxBytes, cutsBody: true }, config)
}

async function readImage(url: string, config: Config): Promise<PreviewImage> {
  const image = await fetchFollowing(url, { accept: 'image/*', maxBytes: maxImageBytes, cutsBody: false }, config)
  const type = image?.status === 200 && detectImageType(image.body)
  return type ? { image: `data:${type};base64,${image.body.toString('base64')}` } : noImage
}

type Limits = { accept: string; maxBytes: number; cutsBody: boolean }

/** Follows redirects, each checked by the outbound client. Undefined for what can't be read. */
async function fetchFollowing(
  start: string,
  { accept, ...limits }: Limits,
  config: Config,
): Promise<FetchedPage | undefined> {
  const deadline = Date.now() + timeoutMs
  const headers = { accept, 'user-agent': 'Tributary' }
  let url = start
  try {
    for (let hop = 0; hop <= maxRedirects && Date.now() < deadline; hop++) {
      const options = { ...limits, timeoutMs: deadline - Date.now(), headers, allow: config }
      const { status, headers: answered, body } = await fetchOutbound(url, options)
      const next = URL.parse(String(answered.location ?? ''), url)
      if (status >= 300 && status < 400 && answered.location && next) url = next.href
      else return { url, status, headers: answered, body }
    }
    return undefined
  } catch (error) {
    // Nothing instead of the error, which would reveal the server's network.
    if (error instanceof OutboundError) return undefined
    throw error
  }
}

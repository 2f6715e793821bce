import type { Metatags } from '@tributary/contract/metatags'
import type { Config } from '../../platform/config.ts'
import type { Ctx } from '../../platform/context.ts'
import { AppError, invalid } from '../../platform/errors.ts'
import { memoByObject, openAsyncMemo } from '../../platform/memo.ts'
import { fetchOutbound, OutboundError } from '../../platform/outbound.ts'
import { parseMetatags } from './parse.ts'

const timeoutMs = 5_000
/** Only this much of a page is read: the metatags are in its head. */
const maxBytes = 262_144
const maxRedirects = 3
const maxReading = 20
const maxKnownBytes = 4_000_000
const rememberMs = 600_000
const rememberFailureMs = 30_000
const nothing: Metatags = { title: null, description: null, image: null }

const openPages = memoByObject((_: Config) =>
  openAsyncMemo<Metatags>({
    maxBytes: maxKnownBytes,
    ttlMs: (metatags) => (metatags === nothing ? rememberFailureMs : rememberMs),
    admit(running) {
      if (running < maxReading) return
      throw new AppError('rate_limit_exceeded', 'The server is fetching too many pages at once. Try again in 1 s.')
    },
  }),
)

/** Fetches a page's metatags with the outbound client, which refuses private addresses of the server's network. */
export async function getMetatags(ctx: Pick<Ctx, 'config'>, url: string): Promise<Metatags> {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw invalid('`url` in the query must be an absolute URL such as https://example.com/page.')
  }
  return openPages(ctx.config)(url, () => readPage(url, ctx.config))
}

async function readPage(url: string, config: Config): Promise<Metatags> {
  const deadline = Date.now() + timeoutMs
  const headers = { accept: 'text/html, application/xhtml+xml', 'user-agent': 'Tributary' }
  let address = url
  try {
    for (let hop = 0; hop <= maxRedirects && Date.now() < deadline; hop++) {
      const options = { timeoutMs: deadline - Date.now(), maxBytes, cutsBody: true, headers, allow: config }
      const { status, headers: answered, body } = await fetchOutbound(address, options)
      const next = URL.parse(String(answered.location ?? ''), address)
      if (status >= 300 && status < 400 && answered.location && next) address = next.href
      else if (status !== 200) return nothing
      else return parseMetatags(body, String(answered['content-type'] ?? ''), address)
    }
    return nothing
  } catch (error) {
    // Return no metatags instead of the error, which would reveal the server's network.
    if (error instanceof OutboundError) return nothing
    throw error
  }
}

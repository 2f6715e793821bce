import type { Platform } from '../../platform/context.ts'
import { fetchOutbound } from '../../platform/outbound.ts'
import { claimFetch, replaceRelease, selectRelease } from './store.ts'
import { isNewer, parseVersion } from './version.ts'

const dayMs = 24 * 3_600_000
const maxBytes = 262_144
const timeoutMs = 15_000
const longestUrl = 500

/** Fetches the newest version from UPDATE_CHECK_URL once a day, in one of all processes; nothing without that setting. */
export async function checkForUpdate(platform: Platform): Promise<void> {
  const { config, db, now } = platform
  if (!config.UPDATE_CHECK_URL) return
  // A little less than a day, so that the time of the check does not move.
  const before = new Date(now().getTime() - dayMs + 600_000)
  if (!(await claimFetch(db, before, now()))) return
  const headers = { accept: 'application/json', 'user-agent': 'tributary' }
  const { status, body } = await fetchOutbound(config.UPDATE_CHECK_URL, { timeoutMs, maxBytes, headers, allow: config })
  const release = status === 200 ? parseRelease(body.toString('utf8')) : undefined
  if (!release) {
    platform.log.warn({ status }, 'UPDATE_CHECK_URL returned no version')
    return
  }
  const known = await selectRelease(db)
  if (known && !isNewer(release.version, known.version)) return
  await replaceRelease(db, { ...release, source: 'fetched', known_at: now() })
}

/** Reads a version and its page from a JSON object, ours or that of a release on GitHub. */
export function parseRelease(text: string): { version: string; url: string | null } | undefined {
  const found = parseObject(text)
  const version = parseVersion(String(found.version ?? found.tag_name ?? ''))
  if (!version) return undefined
  const address = URL.parse(String(found.url ?? found.html_url ?? ''))
  // GitHub's `url` is that of its API; people read `html_url`.
  const page = found.tag_name === undefined ? address : URL.parse(String(found.html_url ?? ''))
  const isPage = page?.protocol === 'https:' && page.href.length <= longestUrl
  return { version, url: isPage ? page.href : null }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(text)
    return typeof found === 'object' && found !== null ? { ...found } : {}
  } catch {
    return {}
  }
}

import { sql } from 'kysely'
import type { RawClick } from '../server/src/features/redirect/messages.ts'
import type { Platform } from '../server/src/platform/context.ts'
import { buildClick, buildLink, buildWorkspace } from '../server/test/build.ts'

export type BenchLink = { number: bigint; workspaceId: string; url: string }

const platforms = ['Windows NT 10.0; Win64; x64', 'Macintosh; Intel Mac OS X 10_15_7', 'X11; Linux x86_64']
const pages = ['', 'https://www.example.org/', 'https://news.example.net/today?page=2', 'https://t.co/abc']

export async function buildLinks(platform: Platform, count: number): Promise<BenchLink[]> {
  const workspace = await buildWorkspace(platform)
  const url = 'https://example.com/landing?utm_source=mail&utm_campaign=autumn'
  for (let made = 0; made < count; made += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => buildLink(platform, workspace, { key: `bench-${made + n}`, url })),
    )
  const found = await sql<{ number: bigint }>`
    SELECT number FROM links WHERE workspace_id = ${workspace.id} LIMIT ${count}`.execute(platform.db)
  return found.rows.map(({ number }) => ({ number, workspaceId: workspace.id, url }))
}

/** Generates clicks, each from another visitor, with some hundred browsers and referrers and worldwide IP addresses. */
export function someClicks(platform: Platform, links: BenchLink[], count: number): RawClick[] {
  return Array.from({ length: count }, (_, n) => {
    const version = 60 + (n % 90)
    return buildClick(platform, links[n % links.length] as BenchLink, {
      ip: `${1 + (n % 220)}.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
      userAgent: `Mozilla/5.0 (${platforms[n % 3]}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
      referer: pages[n % pages.length] as string,
    })
  })
}

import type { InspectedPage } from '@tributary/contract/install-checks'
import { type FetchedPage, findElements } from '../metatags/service.ts'
import { findBlocking } from './policy.ts'

const scriptPath = /\/tracker(\.[0-9a-f]{8,64})?\.m?js$/
const longestUrl = 2_000

type Tag = { url: URL; api: URL; hasNonce: boolean }

/** What the HTML of a page says about the script; `page` is undefined when it could not be read. */
export function inspectPage(url: string, page: FetchedPage | undefined, apiUrl: string): InspectedPage {
  const nothing = { url, status: null, tag: null, scriptUrl: null, blockedBy: null }
  if (!page) return nothing
  const answered = { ...nothing, url: cut(page.url), status: page.status }
  if (page.status !== 200) return answered
  const { origin } = new URL(apiUrl)
  const tags = readTags(page)
  const tag = tags.find(({ api }) => api.origin === origin) ?? tags[0]
  if (!tag) return { ...answered, tag: 'missing' }
  const scriptUrl = cut(tag.url.href)
  if (tag.api.origin !== origin) return { ...answered, tag: 'elsewhere', scriptUrl }
  const policies = readPolicies(page)
  const blockedBy = findBlocking(policies, {
    page: new URL(page.url),
    script: tag.url,
    api: tag.api,
    hasNonce: tag.hasNonce,
  })
  return { ...answered, tag: 'found', scriptUrl, blockedBy }
}

/** The tags whose script has the name of ours, with the API that they report to. */
function readTags(page: FetchedPage): Tag[] {
  return findElements(page, 'script').flatMap((attributes) => {
    const url = URL.parse(attributes.get('src') ?? '', page.url)
    if (!url || !/^https?:$/.test(url.protocol) || !scriptPath.test(url.pathname)) return []
    const api = URL.parse(attributes.get('data-api') ?? '') ?? url
    return [{ url, api, hasNonce: attributes.has('nonce') }]
  })
}

/** The content security policies of the response's headers and of `<meta>` elements. */
function readPolicies(page: FetchedPage): string[] {
  const header = page.headers['content-security-policy']
  const elements = findElements(page, 'meta')
    .filter((attributes) => attributes.get('http-equiv')?.toLowerCase() === 'content-security-policy')
    .map((attributes) => attributes.get('content') ?? '')
  return [...[header ?? []].flat().flatMap((text) => text.split(',')), ...elements]
}

function cut(url: string): string {
  return url.slice(0, longestUrl)
}

import type { RedirectDomain } from '../../src/features/domains/service.ts'
import type { RedirectLink } from '../../src/features/links/service.ts'
import {
  type Attempt,
  type DecideInput,
  type Decision,
  decide,
  type Visit,
} from '../../src/features/redirect/decide.ts'

export const now = Date.UTC(2026, 0, 15, 12)
const click = { id: 'AbC-_1', parameter: 'trib_id' }
const domain: RedirectDomain = {
  id: 'dom_1',
  slug: 'go.example',
  notFoundUrl: null,
  expiredUrl: null,
  assetLinks: null,
  appleAppSiteAssociation: null,
}
export const plainLink: RedirectLink = {
  number: '7',
  id: 'link_7',
  workspaceId: 'ws_1',
  key: 'go',
  url: 'https://example.com/landing',
  trackConversion: false,
  expiresAt: null,
  expiredUrl: null,
  disabledAt: null,
  bannedAt: null,
  sealedPassword: null,
  proxy: false,
  title: null,
  description: null,
  image: null,
  video: null,
  rewrite: false,
  doIndex: false,
  ios: null,
  android: null,
  geo: null,
  testVariants: null,
  testStartedAt: null,
  testCompletedAt: null,
}
const plainVisit: Visit = {
  method: 'GET',
  path: 'go',
  query: '',
  purpose: '',
  userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36',
  location: { country: '' },
}

export type Given = {
  link?: Partial<RedirectLink> | null
  domain?: Partial<RedirectDomain> | null
  visit?: Partial<Visit>
  attempt?: Attempt
  share?: number
  key?: string | null
}

export function decideFor(given: Given): Decision {
  const input: DecideInput = {
    domain: given.domain === null ? null : { ...domain, ...given.domain },
    link: given.link === null ? null : { ...plainLink, ...given.link },
    key: given.key === undefined ? 'go' : given.key,
    visit: { ...plainVisit, ...given.visit },
    now,
    click,
    share: given.share ?? 0,
    attempt: given.attempt ?? { outcome: 'none' },
  }
  return decide(input)
}

export const to = (location: string, status = 302) => ({ status, location, record: true, bot: '' })
export const sent = to(plainLink.url)
export const instead = (location: string, status = 302) => ({ status, location, record: false, index: false })
export const page = (status: number, kind: string) => ({ status, page: { kind }, record: false, index: false })

export const over = 'https://example.com/over'
export const lost = 'https://example.com/lost'
export const password = { sealedPassword: 'c2VhbGVk' }
export const expired = { expiresAt: now - 1 }
export const disabled = { disabledAt: now - 1 }
export const banned = { bannedAt: now - 1 }
export const iphone = {
  userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Mobile/15E148 Safari',
}
export const ipad = {
  userAgent: 'Mozilla/5.0 (iPad; CPU OS 16_0 like Mac OS X) AppleWebKit/605.1.15 Version/16.0 Safari/604.1',
}
export const pixel = {
  userAgent: 'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/126.0 Mobile Safari',
}
export const lumia = {
  userAgent: 'Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1; Microsoft; Lumia 950) Edge/15.14900',
}
export const crawler = { userAgent: 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' }
export const apps = {
  ios: 'https://apps.apple.com/app/id1',
  android: 'https://play.google.com/store/apps/details?id=a',
}
export const germany = { location: { country: 'DE' } }
export const geo = { DE: 'https://example.com/de', FR: 'https://example.com/fr' }
export const variants = [
  { url: 'https://example.com/a', percentage: 50 },
  { url: 'https://example.com/b', percentage: 30 },
  { url: 'https://example.com/c', percentage: 20 },
]

import { z } from 'zod'
import { type BrowserOperation, defaultBody } from './operation.ts'

const host = z.string().trim().toLowerCase().min(1).max(253)
const address = z.string().trim().max(32_000)
const referrer = address
  .nullish()
  .describe('Referrer of the visitor: `document.referrer`. Overrides the header `Referer`.')
const open = { kind: 'browser', method: 'post', tag: 'Track', requestsPerMinute: 600, ...defaultBody } as const

export const newClick = z
  .object({
    domain: host.describe('Host of the short link; a leading `www.` is ignored.'),
    key: z.string().max(2_000).describe('Slug of the short link; `_root` is the bare domain.'),
    url: address
      .nullish()
      .describe('URL of the current page; an invalid URL is replaced by the destination of the link.'),
    referrer,
  })
  .meta({ id: 'NewClick' })
export type NewClick = z.output<typeof newClick>

export const newVisit = z
  .object({
    domain: host.describe('Host whose pages are recorded as links, such as your own site.'),
    url: z
      .url({ protocol: /^https?$/ })
      .max(32_000)
      .describe('URL of the page; the path is the slug of the link.'),
    referrer,
  })
  .meta({ id: 'NewVisit' })
export type NewVisit = z.output<typeof newVisit>

export const newOpen = z
  .object({
    deepLink: address.optional().describe('Short URL that opened the app.'),
    dubDomain: host
      .optional()
      .describe('Accepted without effect: visitors are not matched by IP address, and the response fields are null.'),
  })
  .meta({ id: 'NewOpen' })
export type NewOpen = z.output<typeof newOpen>

const clickResult = z.strictObject({ clickId: z.string() }).meta({ id: 'ClickResult' })

const openResult = z
  .strictObject({
    clickId: z.string().nullable(),
    link: z.strictObject({ id: z.string(), domain: z.string(), key: z.string(), url: z.string() }).nullable(),
  })
  .meta({ id: 'OpenResult' })
export type OpenResult = z.infer<typeof openResult>

export const trackClick = {
  ...open,
  id: 'trackClick',
  path: '/track/click',
  summary: 'Track a click from a page',
  description:
    'Tracks a click on a page that was reached without the redirect. For an hour a visitor gets the same click id as from the redirect, and counts once. If the workspace has allowed hostnames, only pages on those may call this.',
  body: newClick,
  response: clickResult,
} as const satisfies BrowserOperation

export const trackVisit = {
  ...open,
  id: 'trackVisit',
  path: '/track/visit',
  summary: 'Track a page view',
  description: 'Records a click with the trigger `pageview` on the link whose slug is the path of the page.',
  body: newVisit,
  response: clickResult,
} as const satisfies BrowserOperation

export const trackOpen = {
  ...open,
  id: 'trackOpen',
  path: '/track/open',
  summary: 'Track that an app was opened by a link',
  description:
    'Records a click with the trigger `link` and returns its id and the link. `dubDomain` instead of `deepLink` asks for the last click of the visitor by IP address; Tributary does not match visitors by IP address, so it records nothing and both fields of the response are null.',
  body: newOpen,
  response: openResult,
} as const satisfies BrowserOperation

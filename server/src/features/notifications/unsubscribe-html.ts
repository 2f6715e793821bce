import { createHash } from 'node:crypto'
import type { NotificationKind } from '@tributary/contract/notifications'
import { escapeHtml, oneLine } from './compose.ts'

const style = `
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:32rem;padding:3rem 1rem;color:#1b2226;background:#fff}
h1{font-size:1.4rem}a{color:#00696a}li{margin:.25rem 0}
button{font:inherit;min-height:44px;padding:0 1rem;border:0;border-radius:6px;background:#00696a;color:#fff;cursor:pointer}
button:focus-visible,a:focus-visible{outline:2px solid #00696a;outline-offset:2px}
@media(prefers-color-scheme:dark){body{color:#e6ecee;background:#14191c}a{color:#5cc9c6}button{background:#5cc9c6;color:#0d1214}}`
const styleHash = createHash('sha256').update(style).digest('base64')

/** Headers of the page: nothing but its own style may load, and no cache or search engine stores it. */
export const unsubscribeHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex, nofollow',
}

const names: Record<NotificationKind, string> = {
  domain_broken: 'Broken domains',
  webhook_disabled: 'Disabled webhooks',
  key_expiring: 'API keys that expire soon',
  clicks_unusual: 'Unusual clicks of links',
  weekly_report: 'Weekly report',
}
const longestName = 64
type Subscribed = { name: string; slug: string; kinds: NotificationKind[] }

/** Asks whether to unsubscribe; the button does it, because scanners of e-mails open links, too. */
export function confirmPage({ name, kinds }: Subscribed): string {
  return layout(
    'Unsubscribe',
    `<p>Stop these e-mails about the workspace ${show(name)}?</p>
<ul>${kinds.map((kind) => `<li>${names[kind]}</li>`).join('')}</ul>
<form method="post"><button>Unsubscribe</button></form>`,
  )
}

export function donePage({ name, slug, kinds }: Subscribed): string {
  return layout(
    'You are unsubscribed',
    `<p>You get no more e-mails of this kind about the workspace ${show(name)}:</p>
<ul>${kinds.map((kind) => `<li>${names[kind]}</li>`).join('')}</ul>
<p><a href="/app/${encodeURIComponent(slug)}/settings/notifications">Change your notifications</a></p>`,
  )
}

export function invalidPage(): string {
  return layout(
    'This link does not work',
    '<p>It is not complete, or you are not a member of the workspace any more. Then you get no e-mails about it.</p>',
  )
}

function show(name: string): string {
  return `<b>${escapeHtml(oneLine(name, longestName))}</b>`
}

function layout(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title} · Tributary</title><style>${style}</style></head><body><main><h1>${title}</h1>${body}</main></body></html>\n`
}

import type { Language } from './german.ts'
import { type Html, html, raw, say, sentence } from './html.ts'
import { style } from './style.ts'

export type Page = {
  title: string | Html
  body: Html
  /** An error, or a confirmation of a change. */
  problem?: string
  notice?: string
  /** Whether the page loads the script for passkeys. */
  usesPasskeys?: boolean
  isWide?: boolean
}

const brand = html`<p class="brand"><svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#00797a"/>
<path d="M8 7c0 8 8 6 8 14v4M24 7c0 8-8 6-8 14" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/></svg>Tributary</p>`

/** Renders a page that works without JavaScript; `nonce` is the one of its Content-Security-Policy. */
export function renderPage(page: Page, nonce: string, language: Language): string {
  const { body, problem, notice, usesPasskeys, isWide } = page
  const title = say(page.title)
  return html`<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><title>${title} · Tributary</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<link rel="icon" href="data:,"><style nonce="${nonce}">${raw(style)}</style>
${usesPasskeys && html`<script nonce="${nonce}" src="/auth/passkeys.js" defer></script>`}
</head><body><main${isWide && raw(' class="wide"')}>${brand}<div class="card"><h1>${title}</h1>
${problem && html`<p class="problem" role="alert">${sentence(problem)}</p>`}
${notice && html`<p class="notice" role="status">${sentence(notice)}</p>`}
${body}</div></main></body></html>`.write(language)
}

export function pageHeaders(nonce: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    // Links in e-mails have secrets in their query. With `no-referrer`, browsers would send `Origin: null` with our forms.
    'Referrer-Policy': 'same-origin',
  }
}

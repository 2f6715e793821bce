import { type Html, html, raw } from './html.ts'

export type Page = {
  title: string
  body: Html
  /** What went wrong, or what was done. */
  problem?: string
  notice?: string
  /** Whether the page loads the script for passkeys. */
  usesPasskeys?: boolean
  isWide?: boolean
}

const style = `
:root{color-scheme:light dark;--ink:#16202c;--dim:#5a6675;--paper:#f5f6f8;--card:#fff;--line:#cfd6de;--act:#0b5cad;--bad:#a31515;--good:#176b35}
@media (prefers-color-scheme:dark){:root{--ink:#e8edf2;--dim:#9aa7b5;--paper:#10151b;--card:#1a2129;--line:#37424e;--act:#6db3ff;--bad:#ff8f8f;--good:#7fd89b}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:26rem;margin:2rem auto;padding:0 1rem}
main.wide{max-width:42rem}
section,.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:1.25rem;margin:1rem 0;overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:0 0 1rem}h2{font-size:1.1rem;margin:0 0 .5rem}
label{display:block;margin:.75rem 0 .25rem;font-weight:600}
input{width:100%;padding:.6rem;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:6px}
button{font:inherit;font-weight:600;padding:.6rem 1rem;margin-top:1rem;border:1px solid var(--act);border-radius:6px;background:var(--act);color:var(--card);cursor:pointer}
button.plain{background:none;color:var(--act)}button.danger{background:none;border-color:var(--bad);color:var(--bad)}
:focus-visible{outline:3px solid var(--act);outline-offset:2px}
a{color:var(--act)}p.dim,small{color:var(--dim)}small{display:block;margin-top:.25rem}form button{display:block}
.problem{color:var(--bad)}.notice{color:var(--good)}
ul{padding-left:1.2rem}ul.rows{list-style:none;padding:0}ul.rows li{border-top:1px solid var(--line);padding:.6rem 0}
code{font-size:1.05em}svg{display:block;max-width:14rem;background:#fff;margin:1rem 0}
[hidden]{display:none}`

/** Renders a page that works without JavaScript; `nonce` is the one of its Content-Security-Policy. */
export function renderPage({ title, body, problem, notice, usesPasskeys, isWide }: Page, nonce: string): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title} · Tributary</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<link rel="icon" href="data:,"><style nonce="${nonce}">${raw(style)}</style>
${usesPasskeys && html`<script nonce="${nonce}" src="/auth/passkeys.js" defer></script>`}
</head><body><main${isWide && raw(' class="wide"')}><div class="card"><h1>${title}</h1>
${problem && html`<p class="problem" role="alert">${problem}</p>`}
${notice && html`<p class="notice" role="status">${notice}</p>`}
${body}</div></main></body></html>`.markup
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

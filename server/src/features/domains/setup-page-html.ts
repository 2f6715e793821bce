import { createHash } from 'node:crypto'
import type { DomainStatus } from '@tributary/contract/domains'

const style = `
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:44rem;padding:2rem 1rem;color:#1b2226;background:#fff}
h1{font-size:1.4rem}code{overflow-wrap:anywhere;user-select:all;background:#eef2f3;padding:.1rem .3rem;border-radius:4px}
dl{border:1px solid #d5dcdf;border-radius:6px;padding:.5rem 1rem;margin:1rem 0}dt{font-weight:600}dd{margin:0 0 .5rem}
@media(prefers-color-scheme:dark){body{color:#e6ecee;background:#14191c}code{background:#232b2f}dl{border-color:#37424a}}`

const styleHash = createHash('sha256').update(style).digest('base64')
const refreshSeconds = 20

/** Headers of the page: nothing but its own style may load, and no cache or search engine stores it. */
export const setupPageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex, nofollow',
}

const statusTexts = {
  found: 'Found',
  missing: 'Not found yet',
  different: 'Has another value',
  unknown: 'DNS did not answer',
} as const

/** The page for the person who manages the DNS of a domain. */
export function statusPage(status: DomainStatus): string {
  const { slug, records } = status
  const [ownership, routing] = (['ownership', 'routing'] as const).map((purpose) =>
    records.filter((record) => record.purpose === purpose),
  )
  return layout(
    `DNS records of ${slug}`,
    `<h1>DNS records of ${escapeHtml(slug)}</h1>
<p><strong>${escapeHtml(summarize(status))}</strong></p>
<p>Please set these records where the DNS of the domain is managed. This page looks them up every ${refreshSeconds} seconds.</p>
<h2>To reach the short links</h2>
<p>${describeRouting(records)}</p>
${(routing ?? []).map(describeRecord).join('\n')}
<h2>To prove that the domain is yours</h2>
<p>${status.verified ? 'Done: the domain is verified. This record is not needed any more.' : 'The records above are usually enough. If the domain is not verified a few minutes after you have set them, add this one.'}</p>
${(ownership ?? []).map(describeRecord).join('\n')}
<h2>Certificate</h2>
<p>${escapeHtml(describeCertificate(status))}</p>`,
    true,
  )
}

export function missingPage(): string {
  return layout(
    'Not found',
    '<h1>This page does not exist any more</h1><p>Ask your colleague for a new link.</p>',
    false,
  )
}

function summarize({ verified, routed, certificate }: DomainStatus): string {
  if (verified && routed && certificate.status === 'valid') return 'Everything is set up. There is nothing left to do.'
  if (verified && routed) return 'The records are right. The certificate follows on the first visit.'
  if (verified) return 'The domain is verified, but visitors do not reach it yet.'
  return 'The records are not complete yet.'
}

function describeRouting(records: DomainStatus['records']): string {
  const types = new Set(records.map(({ type }) => type))
  if (types.has('CNAME') && (types.has('A') || types.has('AAAA'))) {
    return 'Set the CNAME record. If the name is the domain itself, such as example.com, set all A and AAAA records instead.'
  }
  return types.has('CNAME') || types.has('A') || types.has('AAAA')
    ? 'Set all of these records, and remove other A, AAAA and CNAME records of this name.'
    : 'Ask the operator of this server which address the name must have.'
}

function describeRecord({ type, name, value, found, status }: DomainStatus['records'][number]): string {
  const others =
    status === 'different' ? `: ${found.map((other) => `<code>${escapeHtml(other)}</code>`).join(', ')}` : ''
  return `<dl><dt>Type</dt><dd>${type}</dd><dt>Name</dt><dd><code>${escapeHtml(name)}</code></dd>
<dt>Value</dt><dd><code>${escapeHtml(value)}</code></dd><dt>State</dt><dd>${statusTexts[status]}${others}</dd></dl>`
}

function describeCertificate({ certificate: { status, expiresAt, problem } }: DomainStatus): string {
  if (status === 'valid') return `Valid until ${expiresAt?.slice(0, 10)}. It is renewed automatically.`
  return problem ?? 'Not known yet.'
}

function layout(title: string, body: string, isLive: boolean): string {
  const refresh = isLive ? `<meta http-equiv="refresh" content="${refreshSeconds}">` : ''
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">${refresh}<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(title)}</title><style>${style}</style></head><body><main>${body}</main></body></html>\n`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
}

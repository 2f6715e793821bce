import { createHash } from 'node:crypto'

/** Response headers of a documentation page: no content from other hosts, no inline scripts except those in `html`. */
export function pageHeaders(html: string, mayConnectTo: string[] = []): Record<string, string> {
  return {
    'Content-Security-Policy': buildPolicy(html, mayConnectTo),
    'Cache-Control': 'no-cache',
    'X-Content-Type-Options': 'nosniff',
  }
}

function buildPolicy(html: string, mayConnectTo: string[]): string {
  return [
    "default-src 'self'",
    `script-src ${["'self'", ...inlineScripts(html).map(hashScript)].join(' ')}`,
    // Code blocks have `style` attributes for their colours, which a CSP hash can't allow.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    `connect-src ${["'self'", ...mayConnectTo].join(' ')}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function inlineScripts(html: string): string[] {
  return [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(([, text = '']) => text)
}

function hashScript(script: string): string {
  return `'sha256-${createHash('sha256').update(script).digest('base64')}'`
}

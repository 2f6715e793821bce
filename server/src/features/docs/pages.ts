import { type ErrorCode, errorCodes, errorStatuses } from '@tributary/contract/operation'
import { meanings } from './descriptions.ts'

/** The page at /docs on a server where the documentation site was not built. */
export function siteMissingPage(): string {
  return page(
    'Documentation',
    `<h1>Tributary</h1>
<p>The documentation site is not built on this server. These are here all the same:</p>
<ul><li><a href="/docs/reference">API reference</a></li><li><a href="/docs/errors">Errors</a></li>
<li><a href="/openapi.json">OpenAPI document</a></li></ul>
<p>To have the guides here too, run <code>npm run docs</code> in the folder of the program and start it again.
They can also be read as they are, in its folder <code>docs/</code>.</p>`,
  )
}

export function errorPage(code: ErrorCode): string {
  const { happens, remedy, messages } = meanings[code]
  const rows = messages.map(([message, advice]) => `<tr><td>${message}</td><td>${advice}</td></tr>`)
  const table = `<table><thead><tr><th>The message says</th><th>Then</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
  return page(
    `${errorStatuses[code]} ${code}`,
    `<p><a href="/docs/errors">All errors</a></p><h1><code>${code}</code></h1>
<p>Status ${errorStatuses[code]}</p><h2>When it happens</h2><p>${happens}</p><h2>What to do</h2><p>${remedy}</p>
${rows.length > 0 ? table : ''}`,
  )
}

export function errorsPage(): string {
  const rows = errorCodes.map(
    (code) =>
      `<tr><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${errorStatuses[code]}</td><td>${meanings[code].happens}</td></tr>`,
  )
  return page(
    'Errors',
    `<p><a href="/docs/reference">API reference</a></p><h1>Errors</h1>
<p>Every error is JSON of one form:</p>
<pre>{ "error": { "code": "not_found", "message": "…", "doc_url": "…" } }</pre>
<table><thead><tr><th>Code</th><th>Status</th><th>When it happens</th></tr></thead><tbody>${rows.join('')}</tbody></table>`,
  )
}

/** Settings of the API reference page: it sends no request to other hosts. */
const referenceSettings = {
  url: '/openapi.json',
  authentication: { preferredSecurityScheme: 'token' },
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
}

/** Starts the API reference. A separate file, because the page's Content-Security-Policy allows no inline script. */
export const referenceStart = `Scalar.createApiReference('#reference', ${JSON.stringify(referenceSettings)})\n`

export function referencePage(): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>API reference · Tributary</title>
<link rel="icon" href="data:,">
<style>.to-guides { display: block; padding: .6rem 1rem; font: .9rem/1.4 system-ui, sans-serif }</style>
</head>
<body>
<a class="to-guides" href="/docs/">← Guides</a>
<div id="reference"></div>
<noscript><p>This page is made by a script. The same is told by the <a href="/openapi.json">OpenAPI document</a>.</p></noscript>
<script src="/docs/reference.js"></script>
<script src="/docs/reference-start.js"></script>
</body>
</html>
`
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Tributary</title>
<link rel="icon" href="data:,">
<style>
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1.25rem }
pre, code { font-family: ui-monospace, monospace; font-size: .92em }
pre { padding: .8rem 1rem; border: 1px solid #8886; border-radius: .4rem; overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .45rem .75rem .45rem 0; border-bottom: 1px solid #8884 }
</style>
</head>
<body>${body}</body>
</html>
`
}

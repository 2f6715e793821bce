import { type ErrorCode, errorCodes, errorStatuses } from '@tributary/contract/operation'

const meanings: Record<ErrorCode, { happens: string; remedy: string }> = {
  bad_request: {
    happens:
      'The request is malformed: a required field is missing, a value has the wrong type, or the JSON is broken.',
    remedy: 'The message names the field and what was expected there. Compare your request with the reference.',
  },
  unauthorized: {
    happens: 'The request has no API key or access token, or one that is unknown, expired or revoked.',
    remedy:
      'Send the header <code>Authorization: Bearer &lt;API_KEY&gt;</code>. A new key: <code>tributary key create</code>.',
  },
  forbidden: {
    happens:
      'The key is valid, but it lacks a scope, the plan of the workspace lacks the operation, or the request came unencrypted.',
    remedy: 'The message says which of these it is. Use a key with the scope, another plan, or HTTPS.',
  },
  not_found: {
    happens: 'Nothing is at this address, or what the request names does not exist in your workspace.',
    remedy: 'Check method, path and ids. Things of other workspaces are never shown, whatever their id.',
  },
  conflict: {
    happens: 'Something else already uses this identifier, such as the key of a link or its externalId.',
    remedy: 'Choose another one, or update what exists.',
  },
  invite_expired: {
    happens: 'The invite is older than it may be.',
    remedy: 'Ask for a new invite.',
  },
  unprocessable_entity: {
    happens: 'Every type is right, but a value is not allowed: out of range, not in the list, too long, or not a URL.',
    remedy: 'The message names the field and what is allowed there.',
  },
  rate_limit_exceeded: {
    happens: 'This key made more requests than its plan allows in the window.',
    remedy:
      'Wait the seconds of <code>Retry-After</code>. <code>X-RateLimit-Remaining</code> of every answer tells what is left.',
  },
  internal_server_error: {
    happens: 'The server met something it did not expect.',
    remedy: 'Try again. If it stays, look for the request id of the message in the log of the server.',
  },
}

export function errorPage(code: ErrorCode): string {
  const { happens, remedy } = meanings[code]
  return page(
    `${errorStatuses[code]} ${code}`,
    `<p><a href="/docs/errors">All errors</a></p><h1><code>${code}</code></h1>
<p>Status ${errorStatuses[code]}</p><h2>When it happens</h2><p>${happens}</p><h2>What to do</h2><p>${remedy}</p>`,
  )
}

export function errorsPage(): string {
  const rows = errorCodes.map(
    (code) =>
      `<tr><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${errorStatuses[code]}</td><td>${meanings[code].happens}</td></tr>`,
  )
  return page(
    'Errors',
    `<p><a href="/docs">API reference</a></p><h1>Errors</h1>
<p>Every error is JSON of one form:</p>
<pre>{ "error": { "code": "not_found", "message": "…", "doc_url": "…" } }</pre>
<table><thead><tr><th>Code</th><th>Status</th><th>When it happens</th></tr></thead><tbody>${rows.join('')}</tbody></table>`,
  )
}

/** Nothing on the page calls or needs a service elsewhere. */
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

export function referencePage(): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Tributary API</title></head>
<body>
<div id="reference"></div>
<script src="/docs/reference.js"></script>
<script>Scalar.createApiReference('#reference', ${JSON.stringify(referenceSettings)})</script>
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

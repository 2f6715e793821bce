type Loaded = {
  /** The page that has the policy. */
  page: URL
  script: URL
  /** Where the script reports to. */
  api: URL
  /** Whether the script tag has a nonce, which the policy may allow. */
  hasNonce: boolean
}

/** The directive that blocks the script, or else its reports; null when every policy allows both. */
export function findBlocking(
  policies: readonly string[],
  { page, script, api, hasNonce }: Loaded,
): 'script-src' | 'connect-src' | null {
  const parsed = policies.map(parsePolicy)
  const isScriptAllowed = parsed.every((directives) => {
    const sources = directives.get('script-src-elem') ?? directives.get('script-src') ?? directives.get('default-src')
    // Whether a nonce or hash is right can't be told from here; the report will tell.
    const isBySecret = sources?.some((source) => /^'(nonce-|sha\d|strict-dynamic)/.test(source)) && hasNonce
    return !sources || isBySecret || allows(sources, script, page)
  })
  if (!isScriptAllowed) return 'script-src'
  const isReportAllowed = parsed.every((directives) => {
    const sources = directives.get('connect-src') ?? directives.get('default-src')
    return !sources || allows(sources, api, page)
  })
  return isReportAllowed ? null : 'connect-src'
}

/** The sources of each directive; the first directive of a name counts. */
function parsePolicy(policy: string): Map<string, string[]> {
  const directives = new Map<string, string[]>()
  for (const text of policy.split(';')) {
    const [name = '', ...sources] = text.trim().split(/\s+/)
    if (name && !directives.has(name.toLowerCase())) directives.set(name.toLowerCase(), sources)
  }
  return directives
}

function allows(sources: readonly string[], url: URL, page: URL): boolean {
  return sources.some((source) => matches(source.toLowerCase(), url, page))
}

function matches(source: string, url: URL, page: URL): boolean {
  if (source === '*') return true
  if (source === "'self'") return url.origin === page.origin
  if (source.startsWith("'")) return false
  if (/^[a-z][a-z0-9+.-]*:$/.test(source)) return isScheme(source, url.protocol)
  const [, scheme, host = '', port, path = ''] =
    /^(?:([a-z][a-z0-9+.-]*:)\/\/)?([^/:]+)(?::(\d+|\*))?(\/.*)?$/.exec(source) ?? []
  if (!isScheme(scheme ?? page.protocol, url.protocol)) return false
  const isHost = host.startsWith('*.') ? url.hostname.endsWith(host.slice(1)) : host === '*' || host === url.hostname
  const isPort =
    port === '*' || (port ?? '') === url.port || (port === '443' && url.port === '' && url.protocol === 'https:')
  return isHost && isPort && isPath(path, url.pathname.toLowerCase())
}

/** `http:` also allows the encrypted form. */
function isScheme(allowed: string, protocol: string): boolean {
  return allowed === protocol || (allowed === 'http:' && protocol === 'https:')
}

function isPath(allowed: string, path: string): boolean {
  if (allowed === '' || allowed === '/') return true
  return allowed.endsWith('/') ? path.startsWith(allowed) : path === allowed
}

import type { ErrorCode } from '@tributary/contract/operation'

type Description = {
  happens: string
  remedy: string
  /** Pairs of an example error message and its remedy. */
  messages: [string, string][]
}

/** Descriptions of all error codes in HTML, for the documentation site and for the pages of a server without it. */
export const meanings: Record<ErrorCode, Description> = {
  bad_request: {
    happens:
      'The request is malformed: a required field is missing, a value has the wrong type, or the JSON is broken.',
    remedy: 'The message names the field and what was expected there. Compare your request with the reference.',
    messages: [
      ['<code>url</code> in the body is required.', 'Send the field.'],
      ['<code>url</code> in the body must be a string, not a number.', 'Put quotes around the value.'],
      ['The body is not valid JSON: …', 'Check commas and quotes; let a library write the JSON.'],
      [
        'The header <code>Idempotency-Key</code> must have 1 to 255 printable ASCII characters.',
        'Send a UUID, or no such header.',
      ],
    ],
  },
  unauthorized: {
    happens: 'The request has no API key or access token, or one that is unknown, expired or revoked.',
    remedy:
      'Send the header <code>Authorization: Bearer &lt;API_KEY&gt;</code>. A new key: <code>tributary key create</code>.',
    messages: [
      ['No API key or access token was sent. …', 'Send the header, with the word Bearer and one space before the key.'],
      [
        'This API key or access token is not known. …',
        'Check it for missing characters; a key is valid for one installation.',
      ],
      ['This API key expired at … / has been revoked. …', 'Ask the operator for a new one.'],
      [
        'These statistics have a password. … / X-Stats-Password is wrong.',
        'Send the password of the public statistics in the header <code>X-Stats-Password</code>.',
      ],
    ],
  },
  forbidden: {
    happens:
      'The key is valid, but it lacks a scope, the plan of the workspace lacks the operation, the workspace has reached a quota, or the request came unencrypted.',
    remedy: 'The message says which of these it is. Use a key with the scope, another plan, or HTTPS.',
    messages: [
      ['This key lacks the scope links.write. …', 'Create a key with this scope, or with <code>apis.all</code>.'],
      ['/events needs the business plan or higher; …', 'Ask the operator to put the workspace on a higher plan.'],
      [
        "This workspace has … links; the operator's setting LINKS_PER_WORKSPACE allows …",
        'Delete some, or ask the operator to raise the setting that the message names.',
      ],
      [
        'Unencrypted HTTP is not supported. …',
        'Use the https URL. Behind a proxy, list it in <code>TRUSTED_PROXIES</code>.',
      ],
      [
        '… is not for publishable keys. …',
        'Call it from your server with a secret key; a page may only track leads and sales.',
      ],
      ['… may not track for this workspace. …', "Ask the operator to add the page's host to the allowed hostnames."],
    ],
  },
  not_found: {
    happens: 'The path does not exist, or the request names something that does not exist in your workspace.',
    remedy: 'Check method, path and ids. Objects of other workspaces are never shown, whatever their id.',
    messages: [
      ['There is no GET /link. …', 'Look the path up in the reference.'],
      ['There is no link … in this workspace.', 'Check the id, and that the key belongs to the right workspace.'],
      [
        'There is no click … on a link of this workspace.',
        'Send the click id unchanged from the URL or the cookie. Only links with <code>trackConversion</code> pass one on.',
      ],
    ],
  },
  conflict: {
    happens: "The identifier is already in use, for example a link's key or externalId.",
    remedy: 'Choose another one, or update the existing object.',
    messages: [
      ['go.example.com/sale is already taken. …', 'Choose another key, or change that link.'],
      ['Another link already has the externalId …', 'The link exists: update it by <code>ext_</code> and this id.'],
      ['This workspace already has the domain …', 'The domain is already there: you need not add it.'],
      ['… is being changed by somebody else right now. Try again.', 'Retry the request.'],
    ],
  },
  invite_expired: {
    happens: 'The invite has expired.',
    remedy: 'Ask for a new invite.',
    messages: [],
  },
  unprocessable_entity: {
    happens:
      'All types are correct, but a value is not allowed: out of range, not in the list, too long, or not a URL.',
    remedy: 'The message names the field and what is allowed there.',
    messages: [
      ['<code>limit</code> in the query must be at most 1000, not 5000.', 'Lower it, and request more pages.'],
      [
        'The body is larger than … bytes, the limit …',
        'Send less in one request. The reference names the limit of each operation; <code>BODY_LIMIT_BYTES</code> limits all of them.',
      ],
      ['… <code>Idempotency-Key</code> …', 'The key was used for another request. Use a new key for every request.'],
    ],
  },
  rate_limit_exceeded: {
    happens: 'This key, or a client without a valid key, made more requests than the window allows.',
    remedy:
      'Wait for the seconds in <code>Retry-After</code>. Every response has the remaining requests in <code>X-RateLimit-Remaining</code>.',
    messages: [
      ['The pro plan allows 600 requests per minute here. …', 'Wait, send fewer requests, or use bulk calls.'],
      ['600 requests per minute are allowed here. …', 'This limit applies per client address.'],
      [
        'The server is busy with other requests. …',
        'Retry after a second. If it persists, raise <code>POSTGRES_POOL</code>.',
      ],
      [
        '120 requests per minute without a valid key from one client are allowed here. …',
        'Send a valid key: requests with one do not count.',
      ],
    ],
  },
  internal_server_error: {
    happens: 'The server had an unexpected error, or an engine that the request needs is down.',
    remedy:
      "Retry, with an <code>Idempotency-Key</code> for a write. If it persists, search the server log for the response's <code>X-Request-Id</code>, and check <code>/readyz</code>.",
    messages: [],
  },
}

/** Error codes with their HTTP status, one to one. */
export const errorCodes: Record<string, number> = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  invite_expired: 410,
  unprocessable_entity: 422,
  rate_limit_exceeded: 429,
  internal_server_error: 500,
}

export const rateLimitHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Retry-After']

/** Requests per minute by plan, for every endpoint except analytics. */
export const planLimits = { free: 60, pro: 600, business: 1_200, advanced: 3_000 } as const

/** Requests per second on `GET /analytics` and `GET /events`; the free plan has neither. */
export const analyticsLimits = { pro: 2, business: 4, advanced: 8 } as const

/** Lowest plan by operation; all other operations are available on every plan. */
export const planGates: Record<string, string> = {
  listEvents: 'business',
  streamEvents: 'business',
  exportEvents: 'business',
  retrieveAnalytics: 'pro',
}

export const documentVersion = '0.0.1'
export const mostLinksInBulk = 100
export const randomKeyLength = 7

/** Largest `pageSize` of a list, or `limit` of the events. */
export const largestPage = 100

import { z } from 'zod'

/** A click as the redirect saw it; everything that can be found out later is left to the worker. */
export const rawClick = z.object({
  id: z.string(),
  at: z.number(),
  workspaceId: z.string(),
  linkNumber: z.string(),
  url: z.string(),
  trigger: z.enum(['link', 'qr', 'pageview']),
  ip: z.string(),
  userAgent: z.string(),
  referer: z.string(),
  /** Why this can't be a person, when the request itself tells; else empty. */
  bot: z.string(),
  /** What a trusted proxy said about the place; else empty. */
  country: z.string(),
  region: z.string(),
  city: z.string(),
  continent: z.string(),
  /** Only in a retried dead letter: the position in the log at which the click was seen first. */
  retriedVisit: z.string().optional(),
})
export type RawClick = z.infer<typeof rawClick>

export const clicksSubject = (partition: number) => `events.${partition}.clicks`

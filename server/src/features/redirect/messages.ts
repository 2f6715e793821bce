import { z } from 'zod'

/** A click as the redirect saw it; the worker finds out everything else. */
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
  /** Why the request can't be a person's, when the request itself shows it; else empty. */
  bot: z.string(),
  /** The location headers of a trusted proxy; else empty. */
  country: z.string(),
  region: z.string(),
  city: z.string(),
  continent: z.string(),
  /** Only in a retried dead letter: the log position at which the click was first seen. */
  retriedVisit: z.string().optional(),
})
export type RawClick = z.infer<typeof rawClick>

export const clicksSubject = (partition: number) => `events.${partition}.clicks`

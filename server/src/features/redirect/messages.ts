import { z } from 'zod'

/** A click as the redirect logs it; the worker adds device, location and referrer. */
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
  /** Why the request is not a person's, when its headers or method show it; else empty. */
  bot: z.string(),
  /** The visitor's location from a trusted proxy's headers; else empty. */
  country: z.string(),
  region: z.string(),
  city: z.string(),
  continent: z.string(),
  /** Only in a retried dead letter: the log position at which the click was first read. */
  retriedVisit: z.string().optional(),
})
export type RawClick = z.infer<typeof rawClick>

export const clicksSubject = (partition: number) => `events.${partition}.clicks`

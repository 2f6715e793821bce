import { z } from 'zod'

const triggers = ['link', 'qr', 'pageview'] as const

/** A click as the redirect logs it; the worker adds device, location and referrer. */
export const rawClick = z.object({
  id: z.string(),
  at: z.number(),
  workspaceId: z.string(),
  linkNumber: z.string(),
  url: z.string(),
  trigger: z.enum(triggers),
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

/** The first byte of a message with binary clicks, which no JSON text begins with. Another layout gets another byte. */
export const binaryClicks = 1

export const clicksSubject = (partition: number) => `events.${partition}.clicks`

/** Whether a value from the log is a click. Checks by hand what `rawClick` describes: zod copies each click. */
export function isRawClick(value: unknown): value is RawClick {
  if (typeof value !== 'object' || value === null) return false
  const click = value as Record<keyof RawClick, unknown>
  return (
    Number.isFinite(click.at) &&
    typeof click.id === 'string' &&
    typeof click.workspaceId === 'string' &&
    typeof click.linkNumber === 'string' &&
    typeof click.url === 'string' &&
    triggers.includes(click.trigger as RawClick['trigger']) &&
    typeof click.ip === 'string' &&
    typeof click.userAgent === 'string' &&
    typeof click.referer === 'string' &&
    typeof click.bot === 'string' &&
    typeof click.country === 'string' &&
    typeof click.region === 'string' &&
    typeof click.city === 'string' &&
    typeof click.continent === 'string' &&
    (click.retriedVisit === undefined || typeof click.retriedVisit === 'string')
  )
}

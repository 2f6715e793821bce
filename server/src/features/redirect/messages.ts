import { z } from 'zod'
import { openRowReader, type RowWriter } from '../../platform/row-binary.ts'

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

/** The first byte of a message with binary clicks, which no JSON text begins with. Another layout gets another byte. */
export const binaryClicks = 1

/** Writes a click after `binaryClicks` or another click. `retriedVisit` is not written: dead letters are JSON. */
export function writeClick(writer: RowWriter, click: RawClick): void {
  writer.int64(click.at)
  writer.string(click.id)
  writer.string(click.workspaceId)
  writer.string(click.linkNumber)
  writer.string(click.url)
  writer.string(click.trigger)
  writer.string(click.ip)
  writer.string(click.userAgent)
  writer.string(click.referer)
  writer.string(click.bot)
  writer.string(click.country)
  writer.string(click.region)
  writer.string(click.city)
  writer.string(click.continent)
}

/** The content of a message of the event log, in either format. Throws when it is damaged. */
export function readLogBody(data: Uint8Array): unknown {
  return data[0] === binaryClicks ? readClicks(data) : JSON.parse(decoder.decode(data))
}

function readClicks(data: Uint8Array): unknown[] {
  const reader = openRowReader(data, 1)
  const clicks: unknown[] = []
  while (!reader.isAtEnd())
    clicks.push({
      at: reader.int64(),
      id: reader.string(),
      workspaceId: reader.string(),
      linkNumber: reader.string(),
      url: reader.string(),
      trigger: reader.string(),
      ip: reader.string(),
      userAgent: reader.string(),
      referer: reader.string(),
      bot: reader.string(),
      country: reader.string(),
      region: reader.string(),
      city: reader.string(),
      continent: reader.string(),
    })
  return clicks
}

const decoder = new TextDecoder()

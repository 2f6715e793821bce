import { casual } from 'chrono-node/en'

const isoDate = /^\d{4}-\d{2}-\d{2}$/
const isoInstant = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/i

/** A moment as people and programs write it, in UTC when no zone is given; undefined when it can't be read. */
export function instantOf(text: string, now: Date): Date | undefined {
  const trimmed = text.trim()
  if (isoDate.test(trimmed)) return existing(`${trimmed}T00:00:00Z`, trimmed)
  if (isoInstant.test(trimmed)) {
    const zoned = /(Z|[+-]\d{2}:?\d{2})$/i.test(trimmed) ? trimmed : `${trimmed}Z`
    return existing(zoned.replace(' ', 'T'), trimmed.slice(0, 10))
  }
  if (!/[a-z]/i.test(trimmed)) return undefined
  return casual.parseDate(trimmed, { instant: now, timezone: 0 }, { forwardDate: true }) ?? undefined
}

/** JavaScript rolls 30 February over into March; such a day does not exist. */
function existing(iso: string, day: string): Date | undefined {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return undefined
  const asWritten = new Date(`${day.slice(0, 10)}T00:00:00Z`)
  return asWritten.toISOString().startsWith(day.slice(0, 10)) ? date : undefined
}

import type { OperationAnswer, OperationInput } from '@tributary/contract/client'
import { localTime } from '../analytics/days.ts'

export type Share = OperationAnswer<'listShares'>[number]
export type ShareSubject = { viewId: string } | { linkId: string } | { folderId: string }
type NewShare = NonNullable<OperationInput<'createShare'>['body']>

/** What the form has: `lastDay` and `password` are empty while they are off. */
export type ShareValues = {
  title: string
  hasPassword: boolean
  password: string
  lastDay: string
  showConversions: boolean
}

const dayMs = 86_400_000

export function readValues(share: Share | undefined, timeZone: string): ShareValues {
  return {
    title: share?.title ?? '',
    hasPassword: share?.hasPassword ?? false,
    password: '',
    lastDay: share?.endsAt ? localTime(new Date(lastMoment(share.endsAt)), timeZone).day : '',
    showConversions: share?.showConversions ?? false,
  }
}

/** The body of a new share or of a change. A password that was not typed stays as it is. */
export function writeValues(values: ShareValues, timeZone: string): Omit<NewShare, keyof ShareSubject> {
  const { title, hasPassword, password, lastDay, showConversions } = values
  return {
    title: title.trim() || null,
    ...(!hasPassword ? { password: null } : password && { password }),
    endsAt: lastDay ? dayEnd(lastDay, timeZone).toISOString() : null,
    showConversions,
  }
}

/** Whether the form can be sent: a password that is on must be typed, unless there is one. */
export function isComplete({ hasPassword, password }: ShareValues, share?: Share): boolean {
  return !hasPassword || password !== '' || share?.hasPassword === true
}

export function isEnded({ endsAt }: Pick<Share, 'endsAt'>, now = Date.now()): boolean {
  return endsAt !== null && Date.parse(endsAt) <= now
}

/** A page that ends at midnight is there on the day before. */
export function lastMoment(endsAt: string): string {
  return new Date(Date.parse(endsAt) - 1).toISOString()
}

/** The moment after the last second of a day in a time zone. */
export function dayEnd(date: string, timeZone: string): Date {
  const midnight = Date.parse(`${date}T00:00:00Z`) + dayMs
  const guess = midnight - offsetMs(midnight, timeZone)
  return new Date(midnight - offsetMs(guess, timeZone))
}

/** How far the clocks of a time zone are ahead of UTC at a moment. */
function offsetMs(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
  })
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  return Date.parse(`${part.year}-${part.month}-${part.day}T${part.hour}:${part.minute}:${part.second}Z`) - at
}

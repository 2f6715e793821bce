import type { Recipient } from '../recipients.ts'

type Zone = { time_zone: string }

/** A time in the time zone of the workspace, such as 17 Nov 2026, 09:30 (Europe/Berlin). */
export function formatTime(at: Date, { time_zone: timeZone }: Zone): string {
  const time = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(at)
  return `${time} (${timeZone})`
}

/** A date without a time, such as Tue 17 Nov 2026. */
export function formatDate(date: string): string {
  const options = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' } as const
  return new Intl.DateTimeFormat('en-GB', options).format(new Date(`${date}T00:00:00Z`)).replace(',', '')
}

export function formatCount(count: number): string {
  return new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 }).format(count)
}

/** Cents of a currency, such as €1,234.50. */
export function formatMoney(cents: number, currency: string): string {
  const { minimumFractionDigits: digits = 2 } = new Intl.NumberFormat('en-GB', {
    style: 'currency',
    currency,
  }).resolvedOptions()
  return new Intl.NumberFormat('en-GB', { style: 'currency', currency }).format(cents / 10 ** digits)
}

/** A change in percent with its sign; `new` if there was nothing before. */
export function formatChange(now: number, before: number): string {
  if (before === now) return '±0 %'
  if (before === 0) return 'new'
  const percent = ((now - before) / Math.abs(before)) * 100
  const size = Math.abs(percent) < 10 ? Math.abs(percent).toFixed(1) : formatCount(Math.abs(percent))
  return `${percent > 0 ? '+' : '−'}${size} %`
}

/** The address of a page of the dashboard in the recipient's workspace. */
export function pageUrl({ ctx, workspace }: Recipient, path: string): string {
  return `${ctx.config.API_URL}/app/${workspace.slug}/${path}`
}

import type { NotificationSettingsPatch } from '@tributary/contract/notifications'
import { sql } from 'kysely'
import { afterAll } from 'vitest'
import type { DomainBroken } from '../src/features/domains/messages.ts'
import { appendClicks, keepLinkAttributes, type NewClick } from '../src/features/event-storage/service.ts'
import { linkNumbers, linksAtEvent } from '../src/features/links/service.ts'
import { openRecipient } from '../src/features/notifications/recipients.ts'
import { sendDue } from '../src/features/notifications/send.ts'
import { updateSettings } from '../src/features/notifications/service.ts'
import type { Platform } from '../src/platform/context.ts'
import type { BuiltWorkspace } from './build.ts'
import { contextIn } from './context.ts'
import { type Mailbox, startMailbox } from './mailbox.ts'
import { openOwnDatabase } from './own-database.ts'
import { openTestPlatform } from './stack.ts'

export type Office = {
  platform: Platform
  /** A second process on the same databases. */
  other: Platform
  mailbox: Mailbox
  clock: { now: Date }
  /** Sends everything that is due a minute later, with two workers at once. */
  sendAll(): Promise<void>
}

const minuteMs = 60_000

/** Opens a platform with a database, clock and mail server of its own; no other worker sends its notifications. */
export async function openOffice(now: string, overrides: Record<string, string> = {}): Promise<Office> {
  const mailbox = await startMailbox()
  afterAll(() => mailbox.stop())
  const clock = { now: new Date(now) }
  const settings = { SMTP_URL: mailbox.url, API_URL: 'https://app.example.com', ...overrides }
  const first = await openOwnDatabase(settings)
  const second = await openTestPlatform({ ...settings, POSTGRES_URL: first.config.POSTGRES_URL })
  const [platform, other] = [first, second].map((one) => ({ ...one, now: () => new Date(clock.now) })) as [
    Platform,
    Platform,
  ]
  async function sendAll() {
    clock.now = new Date(clock.now.getTime() + 2 * minuteMs)
    await Promise.all([platform, other].map(drain))
  }
  return { platform, other, mailbox, clock, sendAll }
}

export async function drain(platform: Platform): Promise<void> {
  while (await sendDue(platform));
}

/** The e-mails that an address got, oldest first. */
export function emailsTo({ mailbox }: Pick<Office, 'mailbox'>, address: string) {
  return mailbox.received.filter(({ to }) => to === address)
}

/** Makes the domain of a workspace one that broke; returns its id. */
export async function breakDomain({ db }: Platform, workspace: BuiltWorkspace, since: Date): Promise<string> {
  const result = await sql<{ id: string }>`
    INSERT INTO domain_watches (domain_id, workspace_id, slug, worked_at, failures, failing_since, broken_since, problem)
    SELECT id, workspace_id, slug, ${since}, 3, ${since}, ${since}, 'It has no such record now.' FROM domains
    WHERE workspace_id = ${workspace.id} AND slug = ${workspace.domain}
    ON CONFLICT (domain_id) DO UPDATE SET broken_since = EXCLUDED.broken_since RETURNING domain_id AS id`.execute(db)
  return result.rows[0]?.id ?? ''
}

/** Breaks the domain of a workspace and returns the message that says so. */
export async function breakIts({ platform, clock }: Office, workspace: BuiltWorkspace): Promise<DomainBroken> {
  const domainId = await breakDomain(platform, workspace, clock.now)
  return { workspaceId: workspace.id, domainId, since: clock.now.toISOString() }
}

export async function turnOn(
  platform: Platform,
  workspace: BuiltWorkspace,
  userId: string,
  patch: NotificationSettingsPatch,
): Promise<void> {
  const recipient = await openRecipient(platform, workspace.id, userId)
  if (recipient) await updateSettings(recipient.ctx, patch)
}

export async function readStatuses({ db }: Platform, { id }: BuiltWorkspace) {
  const result = await sql<{ status: string; reason: string | null }>`SELECT status, reason FROM notifications
    WHERE workspace_id = ${id} ORDER BY id`.execute(db)
  return result.rows
}

let clicks = 0

/** Stores clicks of a link at these times, and the link's attributes as the worker would. */
export async function storeClicks(
  platform: Platform,
  workspace: BuiltWorkspace,
  linkId: string,
  times: Date[],
  given: Partial<NewClick> = {},
): Promise<void> {
  const [number] = await linkNumbers(contextIn(platform, workspace.id), { ids: [linkId] })
  const rows = times.map((at) => ({
    ...click,
    ...given,
    workspace_id: workspace.id,
    link_number: String(number),
    timestamp: at.getTime(),
    id_text: newClickId(),
  }))
  await appendClicks(platform, rows, `notifications-test:${workspace.id}:${clicks}`)
  const changes = await linksAtEvent(platform, 0n, 10_000)
  const mine = changes.filter((change) => change.workspaceId === workspace.id)
  await keepLinkAttributes(platform, mine)
}

function newClickId(): string {
  clicks += 1
  const id = Buffer.alloc(30)
  id.writeUInt32BE(clicks)
  id.writeUInt32BE(process.pid, 4)
  return id.toString('base64url')
}

/** A number of moments within an hour. */
export function moments(hour: Date, count: number): Date[] {
  return Array.from({ length: count }, (_, index) => new Date(hour.getTime() + (index % 3_000) * 1_000))
}

const click: Omit<NewClick, 'workspace_id' | 'timestamp' | 'link_number' | 'id_text'> = {
  url: 'https://example.com/landing',
  trigger: 'link',
  ip: '192.0.2.9',
  country: 'DE',
  region: 'Unknown',
  city: 'Unknown',
  continent: 'EU',
  device: 'Desktop',
  browser: 'Chrome',
  os: 'Linux',
  referer: '(direct)',
  referer_url: '(direct)',
  utm_source: '',
  utm_medium: '',
  utm_campaign: '',
  utm_term: '',
  utm_content: '',
  bot: '',
}

import type { Scope } from '@tributary/contract/permissions'
import { type Ctx, hasScope } from '../../platform/context.ts'
import { readAnswers } from '../../platform/idempotency.ts'
import { personEntries } from '../audit/service.ts'
import { customerCommissions, decisionsOnConversions } from '../commissions/service.ts'
import type { Customer } from '../customers/service.ts'
import { clicksOfConversions, wholeClicks } from '../event-storage/service.ts'
import { linksByNumber } from '../links/service.ts'
import { customerClickIds, customerJourney } from '../track/service.ts'
import { customerEvents } from '../webhooks/service.ts'
import { presentClick, presentEvent, presentEventClick, presentPerson } from './present.ts'

/** A part of the export: the tables that it reads, and the scopes that it needs besides `customers.read`. */
type Section = {
  tables: readonly string[]
  scopes?: readonly Scope[]
  read(ctx: Ctx, customer: Customer): AsyncGenerator<object>
}

const eventsAtOnce = 200

/** What is exported of a customer, in this order. An erasure must cover the same tables. */
export const sections: Record<string, Section> = {
  customer: { tables: ['customers'], read: readPerson },
  clicks: { tables: ['click_events'], scopes: ['analytics.read'], read: readClicks },
  events: {
    tables: [
      ...['conversions', 'lead_events', 'sale_events', 'unattributed_leads', 'unattributed_sales'],
      'commission_decisions',
    ],
    read: readEvents,
  },
  commissions: {
    tables: ['commissions', 'commission_details'],
    scopes: ['commissions.read'],
    read: (ctx, { id }) => customerCommissions(ctx, id),
  },
  webhookEvents: {
    tables: ['webhook_events', 'webhook_deliveries', 'webhook_attempts'],
    scopes: ['webhooks.read', 'analytics.read', 'commissions.read', 'partners.read'],
    read: (ctx, { id }) => customerEvents(ctx, id),
  },
  storedResponses: {
    tables: ['idempotency_keys'],
    scopes: ['analytics.read', 'commissions.read', 'partners.read'],
    read: readResponses,
  },
  auditEntries: {
    tables: ['audit_entries', 'audit_person_keys'],
    scopes: ['audit.read'],
    read: (ctx, { id }) => personEntries(ctx, id),
  },
}

async function* readPerson(ctx: Ctx, customer: Customer) {
  yield presentPerson(customer, await loadLinks(ctx, [customer.link_number]))
}

async function* readClicks(ctx: Ctx, customer: Customer) {
  for await (const named of customerClickIds(ctx, [customer])) {
    const rows = await wholeClicks(ctx, named)
    const links = await loadLinks(
      ctx,
      rows.map(({ link_number }) => BigInt(link_number)),
    )
    yield* rows.map((row) => presentClick(row, links))
  }
}

async function* readEvents(ctx: Ctx, { id }: Customer) {
  for (let after: { number: bigint } | undefined; ; ) {
    const rows = await customerJourney(ctx, id, { ascending: true, after, count: eventsAtOnce })
    const named = rows.map(({ id, created_at }) => ({ id, at: created_at.getTime() }))
    const [links, stored, decisions] = await Promise.all([
      loadLinks(
        ctx,
        rows.map(({ link_number }) => link_number),
      ),
      hasScope(ctx.actor, 'analytics.read') ? clicksOfConversions(ctx, named) : undefined,
      hasScope(ctx.actor, 'commissions.read')
        ? decisionsOnConversions(
            ctx,
            rows.map(({ number }) => number),
          )
        : undefined,
    ])
    yield* rows.map((row) =>
      presentEvent(row, links, stored && presentEventClick(row, stored.get(row.id)), decisions?.get(row.number)),
    )
    if (rows.length < eventsAtOnce) return
    after = rows.at(-1)
  }
}

/** Stored responses about the customer. Those that only happen to contain one of its texts are not about it. */
async function* readResponses(ctx: Ctx, customer: Customer) {
  const texts = [customer.id, customer.external_id, customer.email].filter((text) => text !== null)
  for await (const { key, status, createdAt, text } of readAnswers(ctx, texts)) {
    const response = JSON.parse(text) as { id?: unknown; customer?: { id?: unknown; externalId?: unknown } }
    const { id, externalId } = response.customer ?? {}
    const isAbout = [response.id, id].includes(customer.id) || (externalId && externalId === customer.external_id)
    if (isAbout) yield { idempotencyKey: key, createdAt, status, response }
  }
}

async function loadLinks(ctx: Ctx, numbers: (bigint | null)[]) {
  const distinct = [...new Set(numbers)].filter((number) => number !== null)
  return distinct.length === 0 ? new Map() : linksByNumber(ctx, distinct)
}

import type { LeadResult, NewLead, NewTrackedCustomer, TrackedCustomer } from '@tributary/contract/track'
import type { Ctx } from '../../platform/context.ts'
import { badRequest } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { type Customer, findCustomer, makeCustomer, rememberClick, saveCustomer } from '../customers/service.ts'
import { conversionSettings } from '../workspaces/service.ts'
import { type Attribution, attribute } from './attribution.ts'
import { findClick, type KnownClick, requireClick } from './clicks.ts'
import { recordConversion } from './record.ts'
import { type ConversionRow, selectLead } from './store.ts'

/** Records a lead. All reads are in the transaction that records it, so retries and races record one lead. */
export async function trackLead(ctx: Ctx, input: NewLead): Promise<LeadResult> {
  const given = input.clickId === '' ? null : await requireClick(ctx, input.clickId)
  return transaction(ctx, async (ctx) => {
    const known = await findCustomer(ctx, input.customerExternalId)
    const stored = known?.click_id ? await findClick(ctx, known.click_id) : null
    if (!given && !stored) {
      throw badRequest(
        `\`clickId\` in the body is missing, and no click of customer ${input.customerExternalId} is known. Send the click id.`,
      )
    }
    const customer = known ?? (await makeCustomer(ctx, personFields(input), given))
    if (known && given) await rememberClick(ctx, known, given)
    const attribution = await attributeClick(ctx, given, stored)
    const lead = input.mode === 'deferred' ? undefined : await recordLead(ctx, customer, attribution, input)
    const counted = lead ? lead.click_id : (attribution.click?.clickId ?? null)
    const click = counted === null ? null : await findClick(ctx, counted)
    return {
      click: { id: click?.clickId ?? input.clickId },
      link: click?.link ?? null,
      customer: presentPerson(customer),
    }
  })
}

export async function attributeClick(ctx: Ctx, given: KnownClick | null, stored: KnownClick | null) {
  const { model, windowDays } = await conversionSettings(ctx)
  return attribute({ given, stored, model, windowDays, now: ctx.now() })
}

/** Records a lead; returns the existing one when the customer has a lead with this event name. */
export async function recordLead(
  ctx: Ctx,
  customer: Customer,
  { click, reason }: Attribution<KnownClick>,
  lead: Pick<NewLead, 'eventName' | 'eventQuantity' | 'metadata'>,
): Promise<ConversionRow> {
  const row = await recordConversion(ctx, {
    id: newId('evt'),
    workspace_id: ctx.workspaceId,
    kind: 'lead',
    customer_id: customer.id,
    event_name: lead.eventName,
    link_number: click?.linkNumber ?? null,
    click_id: click?.clickId ?? null,
    partner_id: click?.link.partnerId ?? null,
    attribution: reason,
    quantity: lead.eventQuantity ?? 1,
    metadata: lead.metadata ? JSON.stringify(lead.metadata) : null,
    created_at: ctx.now(),
  })
  return row ?? ((await selectLead(ctx.db, ctx.workspaceId, customer.id, lead.eventName)) as ConversionRow)
}

export function personFields(input: {
  customerExternalId: string
  customerName?: string | null
  customerEmail?: string | null
  customerAvatar?: string | null
}) {
  return {
    externalId: input.customerExternalId,
    name: input.customerName || null,
    email: input.customerEmail || null,
    avatar: input.customerAvatar || null,
  }
}

export function presentPerson({ name, email, avatar, external_id }: Customer): LeadResult['customer'] {
  return { name, email, avatar, externalId: external_id }
}

/** Creates or updates a customer, for older clients. Records no event. */
export async function trackCustomer(ctx: Ctx, input: NewTrackedCustomer): Promise<TrackedCustomer> {
  const { customerId, customerName, customerEmail, customerAvatar } = input
  const fields = {
    name: customerName ?? undefined,
    email: customerEmail ?? undefined,
    avatar: customerAvatar ?? undefined,
  }
  const { name, email, avatar } = await saveCustomer(ctx, customerId, fields)
  return { customerId, customerName: name, customerEmail: email, customerAvatar: avatar }
}

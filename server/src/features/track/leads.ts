import type { LeadResult, NewLead, NewTrackedCustomer, TrackedCustomer } from '@tributary/contract/track'
import { type GroupedCall, openGroupCommit, SeparateCallsError } from '../../platform/batches.ts'
import type { Ctx } from '../../platform/context.ts'
import { badRequest } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import {
  type Customer,
  findCustomer,
  findCustomers,
  makeCustomer,
  makeCustomers,
  rememberClick,
  rememberClicks,
  saveCustomer,
} from '../customers/service.ts'
import { linkForConversion } from '../links/service.ts'
import { conversionSettings } from '../workspaces/service.ts'
import { type AttributedCode, type Attribution, attribute, preferCode } from './attribution.ts'
import { findClick, type KnownClick, requireClick } from './clicks.ts'
import { deferCode, findCode, readCode } from './codes.ts'
import { recordConversion, recordConversions } from './record.ts'
import { selectLead, selectLeads } from './record-store.ts'
import type { ConversionRow, NewConversion } from './store.ts'

export async function trackLead(ctx: Ctx, input: NewLead): Promise<LeadResult> {
  const given = input.clickId === '' ? null : await requireClick(ctx, input.clickId)
  const isSimple = given && readCode(input.metadata) === null
  const inGroup = isSimple && (await trackInGroup(ctx, { lead: input, given }))
  return inGroup || trackAlone(ctx, given, input)
}

/** Records a lead. All reads are in the transaction that records it, so retries and races record one lead. */
function trackAlone(ctx: Ctx, given: KnownClick | null, input: NewLead): Promise<LeadResult> {
  return transaction(ctx, async (ctx) => {
    const known = await findCustomer(ctx, input.customerExternalId)
    const stored = known?.click_id ? await findClick(ctx, known.click_id) : null
    const code = await findCode(ctx, input.metadata, known)
    if (!given && !stored && !code) {
      throw badRequest(
        `\`clickId\` in the body is missing, and no click of customer ${input.customerExternalId} is known. Send the click id.`,
      )
    }
    const origin = given ?? codeOrigin(code)
    const customer = known ?? (await makeCustomer(ctx, personFields(input), origin))
    if (known && origin) await rememberClick(ctx, known, origin)
    const attribution = preferCode(await attributeClick(ctx, given, stored), code)
    const isDeferred = input.mode === 'deferred'
    if (isDeferred && 'code' in attribution) await deferCode(ctx, customer, input.metadata)
    const lead = isDeferred ? undefined : await recordLead(ctx, customer, attribution, input)
    const counted = lead ? lead.click_id : (attribution.click?.clickId ?? null)
    if (counted === null) return answer(input, customer, await findUnclicked(ctx, lead, attribution))
    const isSame = counted === attribution.click?.clickId
    return answer(input, customer, isSame ? attribution.click : await findClick(ctx, counted))
  })
}

/** The link of a lead that belongs to a discount code, not to a click. */
async function findUnclicked(ctx: Ctx, lead: ConversionRow | undefined, attribution: Attribution<KnownClick>) {
  const number = lead ? lead.link_number : linkNumber(attribution)
  const link = number === null ? undefined : await linkForConversion(ctx, number)
  return link ? { link } : null
}

/** What brings the customer of a discount code that clicked on no link. */
export function codeOrigin(code: AttributedCode | null) {
  return code && { clickId: null, linkNumber: code.linkNumber }
}

type GivenLead = { lead: NewLead; given: KnownClick }
type LeadCall = GroupedCall<GivenLead>
type Candidate = { call: LeadCall; customer: Customer | undefined; attribution: Attribution<KnownClick> }

/**
 * Records leads that are attributed to the click of their request, in one transaction. Other leads, such as repeated
 * ones, get no result here and are tracked alone.
 */
const trackInGroup = openGroupCommit<GivenLead, LeadResult>(async (ctx, calls) => {
  const candidates = await findCandidates(ctx, calls)
  const strangers = candidates.filter(({ customer }) => !customer)
  const created = await makeCustomers(
    ctx,
    strangers.map(({ call: { input } }) => ({ person: personFields(input.lead), click: input.given })),
  )
  const tracked = new Map<LeadCall, LeadResult>()
  const rows: NewConversion[] = []
  const seen: { customer: Customer; click: KnownClick }[] = []
  for (const { call, customer: known, attribution } of candidates) {
    const { lead, given } = call.input
    const customer = known ?? created.get(lead.customerExternalId)
    if (!customer) continue
    if (known) seen.push({ customer, click: given })
    if (lead.mode !== 'deferred') rows.push(buildLead(call.ctx, customer, attribution, lead))
    tracked.set(call, answer(lead, customer, attribution.click))
  }
  await rememberClicks(ctx, seen)
  const recorded = rows.length > 0 ? await recordConversions(ctx, rows) : []
  if (recorded.length < rows.length) throw new SeparateCallsError()
  return calls.map((call) => tracked.get(call))
})

/** Locks the customers of leads; returns the first new lead of each customer, if only the request's click decides it. */
async function findCandidates(ctx: Ctx, calls: LeadCall[]): Promise<Candidate[]> {
  const { model, windowDays } = await conversionSettings(ctx)
  const externalIds = calls.map(({ input }) => input.lead.customerExternalId)
  const customers = await findCustomers(ctx, externalIds)
  const first = calls.filter((_, index) => externalIds.indexOf(externalIds[index] as string) === index)
  const candidates = first.flatMap((call) => {
    const { lead, given } = call.input
    const customer = customers.get(lead.customerExternalId)
    const attribution = attribute({ given, stored: null, model, windowDays, now: call.ctx.now() })
    const needsStoredClick = customer?.click_id && (model === 'first-click' || attribution.click === null)
    return needsStoredClick || customer?.deferred_code ? [] : [{ call, customer, attribution }]
  })
  const isRepeated = await findRepeated(ctx, candidates)
  return candidates.filter((candidate) => !isRepeated.has(candidate))
}

/** Returns the candidates whose customer already has a lead with the same event name. */
async function findRepeated(ctx: Ctx, candidates: Candidate[]): Promise<Set<Candidate>> {
  const known = candidates.filter(({ customer }) => customer)
  if (known.length === 0) return new Set()
  const requested = known.map(({ call, customer }) => {
    return { customerId: customer?.id as string, eventName: call.input.lead.eventName }
  })
  const leads = await selectLeads(ctx.db, ctx.workspaceId, requested)
  return new Set(known.filter((_, index) => leads[index]))
}

function answer(
  input: NewLead,
  customer: Customer,
  click: (Pick<KnownClick, 'link'> & Partial<Pick<KnownClick, 'clickId'>>) | null,
): LeadResult {
  return {
    click: { id: click?.clickId ?? input.clickId },
    link: click?.link ?? null,
    customer: presentPerson(customer),
  }
}

export async function attributeClick(ctx: Ctx, given: KnownClick | null, stored: KnownClick | null) {
  const { model, windowDays } = await conversionSettings(ctx)
  return attribute({ given, stored, model, windowDays, now: ctx.now() })
}

/** Records a lead; returns the existing one when the customer has a lead with this event name. */
export async function recordLead(
  ctx: Ctx,
  customer: Customer,
  attribution: Attribution<KnownClick>,
  lead: LeadFields,
): Promise<ConversionRow> {
  const row = await recordConversion(ctx, buildLead(ctx, customer, attribution, lead))
  return row ?? ((await selectLead(ctx.db, ctx.workspaceId, customer.id, lead.eventName)) as ConversionRow)
}

type LeadFields = Pick<NewLead, 'eventName' | 'eventQuantity' | 'metadata'>

function buildLead(
  ctx: Ctx,
  customer: Customer,
  attribution: Attribution<KnownClick>,
  lead: LeadFields,
): NewConversion {
  const { click, reason } = attribution
  const owner = 'code' in attribution ? attribution.code.partnerId : (click?.link.partnerId ?? null)
  return {
    id: newId('evt'),
    workspace_id: ctx.workspaceId,
    kind: 'lead',
    customer_id: customer.id,
    event_name: lead.eventName,
    link_number: linkNumber(attribution),
    click_id: click?.clickId ?? null,
    partner_id: owner,
    attribution: reason,
    quantity: lead.eventQuantity ?? 1,
    from_page: ctx.actor.isPublishable ?? false,
    metadata: lead.metadata ? JSON.stringify(lead.metadata) : null,
    created_at: ctx.now(),
  }
}

function linkNumber(attribution: Attribution): bigint | null {
  return 'code' in attribution ? attribution.code.linkNumber : (attribution.click?.linkNumber ?? null)
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

type Named = Pick<Customer, 'name' | 'email' | 'avatar' | 'external_id'>

export function presentPerson({ name, email, avatar, external_id }: Named): LeadResult['customer'] {
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

import type { DiscountCode, DiscountCodesQuery, NewDiscountCode } from '@tributary/contract/discount-codes'
import type { Ctx } from '../../platform/context.ts'
import { badRequest, conflict, notFound } from '../../platform/errors.ts'
import { hashPartition, newId, randomText } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { transaction } from '../../platform/postgres.ts'
import {
  discountsByGroup,
  discountsByNumber,
  getDiscount,
  precedenceSelection,
  requireDiscount,
} from '../discounts/service.ts'
import { linkTitles, partnerLinkCondition, requireLinkOwner } from '../links/service.ts'
import { type Partner, partnerIdSelection, partnersByNumber, requirePartner } from '../partners/service.ts'
import { requireProgram } from '../programs/service.ts'
import { type CodeChanged, codeChangedMessage } from './messages.ts'
import {
  type AttributableCode,
  type CodeRow,
  deleteCode,
  disableCodes,
  enableCodes,
  enabledCode,
  insertCode,
  moveCodes,
  selectCodeOfLink,
  selectCodes,
  selectEnabledCode,
  updateDiscountOfCodes,
} from './store.ts'

type Reader = Pick<Ctx, 'db' | 'workspaceId'>
const codeAttempts = 5

export async function listDiscountCodes(ctx: Ctx, query: DiscountCodesQuery): Promise<DiscountCode[]> {
  await requireProgram(ctx)
  const partner = query.partnerId === undefined ? undefined : await requirePartner(ctx, { partnerId: query.partnerId })
  const discount = query.discountId === undefined ? undefined : await requireDiscount(ctx, query.discountId)
  const filter = { partnerNumber: partner?.number, discountNumber: discount?.number }
  const offset = (query.page - 1) * query.pageSize
  const page = { ascending: query.sortOrder === 'asc', offset, count: query.pageSize }
  return presentCodes(ctx, await selectCodes(ctx.db, ctx.workspaceId, filter, page))
}

export async function createDiscountCode(ctx: Ctx, input: NewDiscountCode): Promise<DiscountCode> {
  const row = await transaction(ctx, async (ctx) => {
    await requireProgram(ctx)
    const partner = await requirePartner(ctx, { partnerId: input.partnerId })
    const link = await requireLinkOwner(ctx, input.linkId)
    if (link.partnerId !== partner.id)
      throw badRequest(`The link ${input.linkId} does not belong to the partner ${input.partnerId}.`)
    if (await selectCodeOfLink(ctx.db, ctx.workspaceId, link.number))
      throw badRequest(`The link ${input.linkId} has a discount code already. Delete it first.`)
    const discount = (await discountsByGroup(ctx, [partner.group_number])).get(partner.group_number)
    if (!discount) throw badRequest(`The group of the partner ${input.partnerId} has no discount. Create one first.`)
    const added = await addCode(ctx, partner, link.number, { code: input.code, discountNumber: discount.number })
    if (!added) throw conflict(`The discount code ${input.code} is already taken. Choose another code.`)
    return added
  })
  return (await presentCodes(ctx, [row]))[0] as DiscountCode
}

/** Creates the code of a new partner's link, if its group has a discount. Needs a transaction. */
export async function createFirstCode(ctx: Ctx, partner: Partner, linkId: string): Promise<void> {
  const discount = (await discountsByGroup(ctx, [partner.group_number])).get(partner.group_number)
  if (!discount) return
  const { number } = await requireLinkOwner(ctx, linkId)
  await addCode(ctx, partner, number, { discountNumber: discount.number })
}

/** Inserts the given code, or one from the partner's name. Undefined when the given one is taken. */
async function addCode(
  ctx: Ctx,
  partner: Partner,
  linkNumber: bigint,
  { code, discountNumber }: { code?: string; discountNumber: bigint },
): Promise<CodeRow | undefined> {
  const row = {
    workspace_id: ctx.workspaceId,
    partner_number: partner.number,
    link_number: linkNumber,
    discount_number: discountNumber,
  }
  if (code) return announce(ctx, await insertCode(ctx.db, { ...row, id: newId('dcode'), code }))
  const name = deriveCode(partner)
  for (let attempt = 0; attempt <= codeAttempts; attempt++) {
    const suffix = attempt === 0 && name !== '' ? '' : randomText(name === '' ? 8 : 4).toUpperCase()
    const added = await insertCode(ctx.db, { ...row, id: newId('dcode'), code: name + suffix })
    if (added) return announce(ctx, added)
  }
  throw conflict('No free discount code was found. Send one in `code`.')
}

async function announce(ctx: Ctx, row: CodeRow | undefined): Promise<CodeRow | undefined> {
  if (row) await publishCode(ctx, 'discount_code.created', row)
  return row
}

async function publishCode(ctx: Ctx, type: CodeChanged['type'], row: CodeRow): Promise<void> {
  const [{ discountId, ...code } = { discountId: null }] = await presentCodes({ ...ctx, folderAccess: undefined }, [
    row,
  ])
  const discount = discountId === null ? null : await getDiscount(ctx, discountId)
  const shown = discount && {
    id: discount.id,
    amount: discount.amount,
    type: discount.type,
    maxDuration: discount.maxDuration,
    provider: discount.provider,
  }
  const { workspaceId } = ctx
  const data = { ...code, discount: shown } as CodeChanged['code']
  const body = { workspaceId, id: newId('evt'), type, createdAt: ctx.now().toISOString(), code: data }
  await publish(ctx, codeChangedMessage(body, hashPartition(workspaceId, ctx.config.EVENT_PARTITIONS)))
}

export async function deleteDiscountCode(ctx: Ctx, idOrCode: string): Promise<{ id: string }> {
  return transaction(ctx, async (ctx) => {
    await requireProgram(ctx)
    const row = await deleteCode(ctx.db, ctx.workspaceId, idOrCode)
    if (!row) throw notFound('discount code', idOrCode)
    await publishCode(ctx, 'discount_code.deleted', row)
    return { id: row.id }
  })
}

const codeParts = { partnerIdSelection, precedenceSelection, partnerLinkCondition }

/** What a lead or sale with the code belongs to; `wins` says whether the code comes before a click. */
export type CodeOwner = AttributableCode

/** Finds an enabled code, ignoring case. */
export function findCodeOwner({ db, workspaceId }: Reader, code: string): Promise<CodeOwner | undefined> {
  return selectEnabledCode(db, workspaceId, code, codeParts)
}

/** The SQL that selects link_number, partner_id and wins of an enabled code; the arguments are SQL. */
export function codeSelection(parts: Record<'workspace' | 'code', string>): string {
  return enabledCode(parts, codeParts)
}

/** Disables the codes of a banned or deactivated partner. */
export function disablePartnerCodes(ctx: Reader, partnerNumber: bigint, at: Date): Promise<void> {
  return disableCodes(ctx.db, ctx.workspaceId, partnerNumber, at)
}

export function enablePartnerCodes(ctx: Reader, partnerNumber: bigint): Promise<void> {
  return enableCodes(ctx.db, ctx.workspaceId, partnerNumber)
}

/** Gives the codes of partners the discount of their new group, if it has one. */
export async function followGroup(ctx: Reader, partnerNumbers: bigint[], groupNumber: bigint): Promise<void> {
  if (partnerNumbers.length === 0) return
  const discount = (await discountsByGroup(ctx, [groupNumber])).get(groupNumber)
  await updateDiscountOfCodes(ctx.db, ctx.workspaceId, partnerNumbers, discount?.number ?? null)
}

/** Gives the codes of a merged partner to its target. */
export async function giveCodes(ctx: Reader, source: bigint, target: Partner): Promise<void> {
  const discount = (await discountsByGroup(ctx, [target.group_number])).get(target.group_number)
  await moveCodes(ctx.db, ctx.workspaceId, source, {
    partnerNumber: target.number,
    discountNumber: discount?.number ?? null,
  })
}

async function presentCodes(ctx: Ctx, rows: CodeRow[]): Promise<DiscountCode[]> {
  const partners = await partnersByNumber(
    ctx,
    rows.map((row) => row.partner_number),
  )
  const discounts = await discountsByNumber(
    ctx,
    rows.flatMap((row) => row.discount_number ?? []),
  )
  const links = await linkTitles(
    ctx,
    rows.map((row) => row.link_number),
  )
  return rows.map((row) => ({
    id: row.id,
    code: row.code,
    discountId: row.discount_number === null ? null : (discounts.get(row.discount_number)?.id ?? null),
    partnerId: partners.get(row.partner_number)?.id ?? '',
    linkId: links.get(String(row.link_number))?.id ?? '',
    disabledAt: row.disabled_at?.toISOString() ?? null,
  }))
}

const longestName = 40

/** The letters and digits of the name, in upper case. */
function deriveCode({ name }: Pick<Partner, 'name'>): string {
  return (name.split('@')[0] ?? '')
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9]+/g, '')
    .toUpperCase()
    .slice(0, longestName)
}

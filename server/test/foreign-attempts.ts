import { createLink } from '@tributary/contract/links'
import type { JsonOperation } from '@tributary/contract/operation'
import { type Foreign, foreignValue } from './foreign-values.ts'

type Attempt = { path: string; query: Record<string, string>; body?: unknown }

/** Requests with identifiers of another workspace: in the path, in each parameter and in each field of the body. */
export function foreignAttempts(operation: JsonOperation, foreign: Foreign): Attempt[] {
  const value = (name: string) => foreignValue(foreign, name, operation.path)
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(value(name))))
  const list = operation.body.def.type === 'array'
  const wrap = (body: object) => (list ? [body] : body)
  const base = {
    url: 'https://example.com/',
    name: 'mine',
    slug: 'mine.example.com',
    domain: 'mine.example.com',
    data: {},
    eventName: 'mine',
    customerExternalId: 'mine',
    customerId: 'mine',
    externalId: 'mine',
    amount: 5,
    invoiceId: 'mine',
    triggers: ['link.created'],
    since: new Date().toISOString(),
    ...(operation.path === '/groups' && { slug: 'mine' }),
    groupId: 'grp_mine',
    partnerIds: ['pn_mine'],
    action: operation.path.startsWith('/bulk') ? 'delete' : 'archive',
    filter: {},
    reason: 'spam',
    partnerId: 'pn_mine',
    sourcePartnerId: 'pn_mine',
    targetPartnerId: 'pn_mine',
    linkId: 'link_mine',
    ...(operation.path.startsWith('/partners') && { email: 'mine@example.com' }),
    type: operation.path === '/commissions' ? 'sale' : 'flat',
    commissionIds: ['cm_mine'],
    status: 'fraud',
    event: 'lead',
    amountInCents: 1,
    start: new Date(Date.now() - 86_400_000).toISOString(),
  }
  const usual = Object.fromEntries(Object.entries(base).filter(([name]) => required(operation).includes(name)))
  const plain = { path, query: {}, body: wrap(usual) }
  const inQuery = Object.keys(operation.query.shape)
    .filter((name) => value(name) !== undefined)
    .map((name) => ({ ...plain, query: { domain: foreign.domain, [name]: String(value(name)) } }))
  const inBody = bodyFields(operation)
    .filter((name) => value(name) !== undefined)
    .map((name) => ({ ...plain, body: wrap({ ...usual, ...neededBy(name, operation), [name]: value(name) }) }))
  return [plain, ...inQuery, ...inBody]
}

/** Adds or removes fields, because an id would otherwise be rejected before its lookup. */
function neededBy(name: string, { path }: JsonOperation): object {
  if (path.startsWith('/rewards') && name === 'partnerId') return { groupId: null }
  if (path.startsWith('/bulk') && name === 'folderId') return { action: 'move' }
  if (path.startsWith('/bulk') && name === 'tagIds') return { action: 'addTags' }
  if (!path.startsWith('/webhooks')) return {}
  return { ...(name === 'folderIds' && { linkScope: 'folders' }), ...(name === 'linkIds' && { linkScope: 'links' }) }
}

export function pathNames({ path }: JsonOperation): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string)
}

export function bodyFields(operation: JsonOperation): string[] {
  if (operation.id === 'bulkCreateLinks' || operation.id === 'checkLinks') return bodyFields(createLink)
  const { def } = operation.body as { def: object }
  if ('options' in def)
    return [...new Set((def.options as { shape: object }[]).flatMap(({ shape }) => Object.keys(shape)))]
  const body = 'out' in def ? (def.out as object) : 'innerType' in def ? (def.innerType as object) : operation.body
  return 'shape' in body ? Object.keys(body.shape as object) : []
}

function required(operation: JsonOperation): string[] {
  if (['bulkCreateLinks', 'checkLinks', 'upsertLink'].includes(operation.id)) return ['url']
  if (operation.id === 'bulkUpdateCommissions') return ['commissionIds', 'status']
  if (operation.method !== 'post') return operation.id === 'bulkUpdateLinks' ? ['data'] : []
  if (operation.id === 'createCustomer') return ['externalId']
  if (operation.id === 'trackCustomer') return ['customerId']
  const needed =
    `url name slug eventName customerExternalId amount invoiceId triggers since partnerIds type action filter reason`.split(
      ' ',
    )
  if (operation.id === 'createDiscount') needed.push('groupId')
  if (operation.id === 'createDiscountCode') needed.push('partnerId', 'linkId')
  if (operation.path.startsWith('/partners')) needed.push('email', 'partnerId', 'sourcePartnerId', 'targetPartnerId')
  if (operation.path.startsWith('/rewards')) needed.push('groupId', 'event', 'amountInCents', 'start')
  if (operation.id === 'createCommission') return ['type', 'partnerId']
  return bodyFields(operation).filter((name) => needed.includes(name) || operation.id === 'registerDomain')
}

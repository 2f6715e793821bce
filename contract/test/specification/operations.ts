import { analyticsAdditions, eventFilters, eventsAdditions, eventsParameters, groupings } from './events.ts'
import {
  boolean,
  bounded,
  choice,
  defaulting,
  deprecated,
  type Field,
  list,
  number,
  object,
  ours,
  type Shape,
  text,
} from './notation.ts'

export type OperationTable = {
  id: string
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  path: string
  status: number
  /** Query parameters, all optional here; `required` lists the exceptions. */
  query: Shape
  /** Names of our own parameters. */
  additions?: string[]
  /** Schema name of the request body in the OpenAPI document. */
  body?: string
  response: Field
}

const none: Shape = {}
const page = ours(defaulting(number, 1), { minimum: 1 })
const pageSize = (size: number) => ours(bounded(defaulting(number, size), { maximum: 100 }), { minimum: 1 })
const order = (direction: 'asc' | 'desc') => defaulting(choice('asc', 'desc'), direction)
const texts = list(text)

/** Query parameters of a list endpoint besides its filters. */
function paged(size: number, sortBy: string[], direction: 'asc' | 'desc'): Shape {
  const [first = ''] = sortBy
  return {
    page,
    pageSize: pageSize(size),
    sortBy: defaulting(choice(...sortBy), first),
    sortOrder: order(direction),
  }
}

const linkFilters: Shape = {
  domain: text,
  tagId: deprecated(text),
  tagIds: texts,
  tagNames: texts,
  folderId: text,
  search: ours(text, { maxLength: 500 }),
  userId: text,
  tenantId: text,
  showArchived: defaulting(boolean, false),
  withTags: deprecated(defaulting(boolean, false)),
}
const cursors: Shape = { startingAfter: text, endingBefore: text }
const linkSorts = ['createdAt', 'clicks', 'saleAmount', 'lastClicked']
const search = ours(text, { maxLength: 190 })
const expansion: Shape = { includeExpandedFields: boolean }

/** Required query parameters by operation; all others are optional. */
export const required: Record<string, string[]> = {
  bulkDeleteLinks: ['linkIds'],
  checkDomainStatus: ['domains'],
  getMetatags: ['url'],
}

const linkAdditions = ['partnerId', 'state', 'start', 'end']

export const operationTables: OperationTable[] = [
  {
    ...{ id: 'listEvents', method: 'get', path: '/events', status: 200 },
    query: eventsParameters,
    additions: eventsAdditions,
    response: list(object('ClickEvent LeadEvent SaleEvent')),
  },
  {
    ...{ id: 'retrieveAnalytics', method: 'get', path: '/analytics', status: 200 },
    query: {
      event: defaulting(choice('clicks', 'leads', 'sales', 'composite'), 'clicks'),
      groupBy: defaulting(choice(...groupings), 'count'),
      ...eventFilters,
    },
    additions: analyticsAdditions,
    response: { type: 'any' },
  },
  {
    ...{ id: 'getLinks', method: 'get', path: '/links', status: 200 },
    query: {
      ...linkFilters,
      ...cursors,
      ...paged(100, linkSorts, 'desc'),
      sort: deprecated(choice(...linkSorts)),
    },
    additions: linkAdditions,
    response: list(object('Link')),
  },
  {
    ...{ id: 'getLinksCount', method: 'get', path: '/links/count', status: 200 },
    query: { ...linkFilters, groupBy: choice('domain', 'tagId', 'userId', 'folderId') },
    additions: linkAdditions,
    response: number,
  },
  {
    ...{ id: 'getLinkInfo', method: 'get', path: '/links/info', status: 200 },
    query: { domain: text, key: text, linkId: text, externalId: text },
    response: object('Link'),
  },
  {
    ...{ id: 'createLink', method: 'post', path: '/links', status: 200 },
    query: none,
    body: 'NewLink',
    response: object('Link'),
  },
  {
    ...{ id: 'bulkCreateLinks', method: 'post', path: '/links/bulk', status: 200 },
    query: none,
    response: list(object('Link LinkError')),
  },
  {
    ...{ id: 'upsertLink', method: 'put', path: '/links/upsert', status: 200 },
    query: none,
    body: 'NewLink',
    response: object('Link'),
  },
  {
    ...{ id: 'updateLink', method: 'patch', path: '/links/{linkId}', status: 200 },
    query: none,
    body: 'LinkPatch',
    response: object('Link'),
  },
  {
    ...{ id: 'bulkUpdateLinks', method: 'patch', path: '/links/bulk', status: 200 },
    query: none,
    body: 'BulkLinkUpdate',
    response: list(object('Link')),
  },
  {
    ...{ id: 'deleteLink', method: 'delete', path: '/links/{linkId}', status: 200 },
    query: none,
    response: object('DeletedById'),
  },
  {
    ...{ id: 'bulkDeleteLinks', method: 'delete', path: '/links/bulk', status: 200 },
    query: { linkIds: texts },
    response: object('DeletedCount'),
  },
  {
    ...{ id: 'getTags', method: 'get', path: '/tags', status: 200 },
    query: { ...paged(100, ['name', 'createdAt'], 'asc'), search, ids: texts },
    response: list(object('Tag')),
  },
  ...crud('Tag', '/tags', 'createTag', 'updateTag', 'deleteTag'),
  {
    ...{ id: 'listFolders', method: 'get', path: '/folders', status: 200 },
    query: { ...paged(50, ['name', 'createdAt'], 'asc'), search },
    response: list(object('Folder')),
  },
  ...crud('Folder', '/folders', 'createFolder', 'updateFolder', 'deleteFolder'),
  {
    ...{ id: 'listDomains', method: 'get', path: '/domains', status: 200 },
    query: { ...paged(50, ['createdAt', 'slug'], 'asc'), search, archived: defaulting(boolean, false) },
    response: list(object('Domain')),
  },
  {
    ...{ id: 'createDomain', method: 'post', path: '/domains', status: 201 },
    query: none,
    body: 'NewDomain',
    response: object('Domain'),
  },
  {
    ...{ id: 'updateDomain', method: 'patch', path: '/domains/{slug}', status: 200 },
    query: none,
    body: 'DomainPatch',
    response: object('Domain'),
  },
  {
    ...{ id: 'deleteDomain', method: 'delete', path: '/domains/{slug}', status: 200 },
    query: none,
    response: object('DeletedBySlug'),
  },
  {
    ...{ id: 'checkDomainStatus', method: 'get', path: '/domains/status', status: 200 },
    query: { domains: texts },
    response: list(object('DomainStatus')),
  },
  {
    ...{ id: 'registerDomain', method: 'post', path: '/domains/register', status: 201 },
    query: none,
    body: 'DomainRegistrationRequest',
    response: object('DomainRegistration'),
  },
  {
    ...{ id: 'trackLead', method: 'post', path: '/track/lead', status: 200 },
    query: none,
    body: 'NewLead',
    response: object('LeadResult PublishableResult'),
  },
  {
    ...{ id: 'trackSale', method: 'post', path: '/track/sale', status: 200 },
    query: none,
    body: 'NewSale',
    response: object('SaleResult PublishableResult'),
  },
  {
    ...{ id: 'getCustomers', method: 'get', path: '/customers', status: 200 },
    query: {
      email: ours(text, { maxLength: 100 }),
      externalId: ours(text, { maxLength: 100 }),
      search: ours(text, { maxLength: 200 }),
      country: ours(text, { maxLength: 2 }),
      linkId: text,
      programId: text,
      partnerId: text,
      ...expansion,
      ...cursors,
      ...paged(100, ['createdAt', 'saleAmount', 'firstSaleAt', 'subscriptionCanceledAt'], 'desc'),
    },
    response: list(object('ExpandedCustomer')),
  },
  {
    ...{ id: 'createCustomer', method: 'post', path: '/customers', status: 201 },
    query: none,
    body: 'NewCustomer',
    response: object('ExpandedCustomer'),
  },
  {
    ...{ id: 'trackCustomer', method: 'post', path: '/track/customer', status: 200 },
    query: none,
    body: 'NewTrackedCustomer',
    response: object('TrackedCustomer'),
  },
  {
    ...{ id: 'getMetatags', method: 'get', path: '/metatags', status: 200 },
    query: { url: ours(text, { maxLength: 2_000 }) },
    response: object('Metatags'),
  },
  {
    ...{ id: 'getCustomer', method: 'get', path: '/customers/{id}', status: 200 },
    query: expansion,
    response: object('ExpandedCustomer'),
  },
  {
    ...{ id: 'updateCustomer', method: 'patch', path: '/customers/{id}', status: 200 },
    query: expansion,
    response: object('ExpandedCustomer'),
  },
  {
    ...{ id: 'deleteCustomer', method: 'delete', path: '/customers/{id}', status: 200 },
    query: none,
    response: object('DeletedById'),
  },
  {
    ...{ id: 'listWebhooks', method: 'get', path: '/webhooks', status: 200 },
    query: paged(100, ['createdAt', 'name'], 'asc'),
    response: { type: 'any' },
  },
  {
    ...{ id: 'listWebhookDeliveries', method: 'get', path: '/webhooks/{id}/deliveries', status: 200 },
    query: {
      ...paged(50, ['createdAt'], 'desc'),
      status: choice('pending', 'delivered', 'failed'),
      limit: deprecated(ours(number, { minimum: 1, maximum: 100 })),
    },
    additions: ['event', 'cursor'],
    response: { type: 'any' },
  },
]

function crud(shape: string, path: string, create: string, update: string, remove: string): OperationTable[] {
  const item = `${path}/{id}`
  return [
    { id: create, method: 'post', path, status: 201, query: none, body: `New${shape}`, response: object(shape) },
    {
      id: update,
      method: 'patch',
      path: item,
      status: 200,
      query: none,
      body: `${shape}Patch`,
      response: object(shape),
    },
    { id: remove, method: 'delete', path: item, status: 200, query: none, response: object('DeletedById') },
  ]
}

import type { OperationAnswer } from '@tributary/contract/client'

export type UtmTemplate = OperationAnswer<'listUtmTemplates'>[number]

export const utmFields = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content', 'ref'] as const
export type UtmField = (typeof utmFields)[number]

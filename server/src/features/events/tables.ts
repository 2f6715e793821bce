import { eventTables, type StoredClick } from '../event-storage/service.ts'
import { partnerAttributesTable } from '../partner-attributes/service.ts'

/** The ClickHouse tables of events, links and partners; other features own them. */
export const tables = { ...eventTables, partnerAttributes: partnerAttributesTable }
export type ClickColumns = Omit<StoredClick, 'id_text' | 'at'>

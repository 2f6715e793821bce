import { eventTables, type StoredClick } from '../event-storage/service.ts'

/** The ClickHouse tables of events, which event-storage owns. */
export const tables = eventTables
export type ClickColumns = Omit<StoredClick, 'id_text' | 'at'>

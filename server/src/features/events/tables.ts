import { eventTables, type StoredClick } from '../event-storage/service.ts'

/** The tables belong to event-storage, which lists the readable ones. */
export const tables = eventTables
export type ClickColumns = Omit<StoredClick, 'id_text' | 'at'>

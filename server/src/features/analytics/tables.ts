import { eventTables } from '../event-storage/service.ts'
import { rollupTables } from '../rollups/service.ts'

/** The tables belong to other features, which list the readable ones. */
export const tables = { ...eventTables, ...rollupTables }

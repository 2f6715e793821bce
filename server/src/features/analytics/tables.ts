import { eventTables } from '../event-storage/service.ts'
import { rollupTables } from '../rollups/service.ts'

/** Event and rollup tables that analytics reads; other features own them. */
export const tables = { ...eventTables, ...rollupTables }

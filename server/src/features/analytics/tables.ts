import { eventTables } from '../event-storage/service.ts'
import { rollupTables } from '../rollups/service.ts'

/** What is counted here belongs to others, who say what may be read. */
export const tables = { ...eventTables, ...rollupTables }

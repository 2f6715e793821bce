import { eventTables } from '../event-storage/service.ts'
import { partnerAttributesTable } from '../partner-attributes/service.ts'
import { rollupTables } from '../rollups/service.ts'

/** Tables that analytics reads; other features own them. */
export const tables = { ...eventTables, ...rollupTables, partnerAttributes: partnerAttributesTable }

import { rollupTables } from '../rollups/service.ts'

/** Tables that notifications read; other features own them. */
export const tables = rollupTables

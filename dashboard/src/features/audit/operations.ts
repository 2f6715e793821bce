import { endpoints } from '@tributary/contract/endpoints'

/** What visitors and shops send is not in the log, nor what only reads. */
const unrecorded = /^GET|^POST \/(track|analytics|install-checks)\b|\/(check|simulate|recheck)$/

/** The names of what the log records, besides those of commands: writes of the API and exports. */
export const auditedOperations: readonly string[] = [
  ...Object.entries(endpoints)
    .filter(([id, endpoint]) => !unrecorded.test(endpoint) || id.startsWith('export'))
    .map(([id]) => id),
  'key.new-network',
].sort()

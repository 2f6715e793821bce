import { ClickHouseError } from '@clickhouse/client'
import pg from 'pg'

/**
 * Why a batch failed: a database rejected its data (`refused`: retries fail too), was down or overloaded
 * (`unavailable`: a retry succeeds later), or `unknown`.
 */
export type Failure = 'refused' | 'unavailable' | 'unknown'

// SQLSTATE classes for cardinality, data, integrity and program limits: a valid statement with invalid values.
const refusedStates = /^(21|22|23|54)/
const unavailableStates = /^(08|25|40|42|53|55|57|58)/

// ClickHouse error codes for values that it can't parse, convert, compute with or store.
const refusedCodes = new Set([
  ...['6', '7', '9', '25', '26', '27', '32', '33', '34', '36', '38', '41', '43', '53', '69', '70', '72', '117', '128'],
  ...['130', '131', '190', '192', '321', '349', '376', '377', '395', '407', '441', '467', '469', '675', '676', '691'],
])
// ClickHouse error codes for schema, limits, disk, network, permissions and replicas.
const unavailableCodes = new Set([
  ...['8', '16', '47', '60', '62', '74', '75', '76', '81', '115', '158', '159', '160', '164', '173', '201', '202'],
  ...['203', '209', '210', '236', '241', '242', '243', '252', '279', '285', '286', '305', '307', '319', '394', '439'],
  ...['497', '516', '999'],
])

export function judgeFailure(error: unknown): Failure {
  if (error instanceof pg.DatabaseError) {
    if (refusedStates.test(error.code ?? '')) return 'refused'
    return unavailableStates.test(error.code ?? '') ? 'unavailable' : 'unknown'
  }
  if (error instanceof ClickHouseError) {
    if (refusedCodes.has(error.code)) return 'refused'
    return unavailableCodes.has(error.code) ? 'unavailable' : 'unknown'
  }
  // Our own code failed on the data, or NATS rejected the message's size.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return 'refused'
  const { name, code, message, responseCode = 0 } = error as Partial<Error> & { code?: unknown; responseCode?: number }
  if (name === 'InvalidArgumentError' || name === 'InvalidSubjectError' || code === 10054) return 'refused'
  // The mail server rejected the address or the text for good; 4xx asks for a retry.
  if ((code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500) return 'refused'
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return 'unavailable'
  return /time ?out|timed out|terminated|closed|hang up|connect|no responders|draining/i.test(message ?? '')
    ? 'unavailable'
    : 'unknown'
}

/** Describes an error without the data: databases quote values that they can't parse, which may be personal data. */
export function describeFailure(error: unknown): string {
  if (error instanceof ClickHouseError) return `ClickHouse rejected the data: ${error.type ?? 'error'} (${error.code})`
  if (error instanceof pg.DatabaseError) return `PostgreSQL rejected the data: SQLSTATE ${error.code}`
  if (error instanceof SyntaxError) return 'The message is not valid JSON'
  return (error as Error).message.replaceAll(/\s+/g, ' ').slice(0, 200)
}

/** Splits a batch in two halves. Rows of a workspace stay together while the batch has several workspaces. */
export function divide<T extends { workspace_id: string }>(rows: T[]): [T[], T[]] {
  const groups = [...Map.groupBy(rows, ({ workspace_id }) => workspace_id).values()]
  const parts = groups.length > 1 ? groups : rows.map((row) => [row])
  const middle = Math.ceil(parts.length / 2)
  return [parts.slice(0, middle).flat(), parts.slice(middle).flat()]
}

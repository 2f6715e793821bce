import { searchableMetadata } from '../event-storage/service.ts'
import { type Condition, type MetadataQuery, type Operator, parseMetadataQuery } from './metadata-query.ts'

// The JSON grammar of a number.
const number = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i
// JSON strings that are compared as numbers: short ones, which JavaScript and ClickHouse parse to the same value.
const shortNumber = '^-?(0|[1-9][0-9]{0,17})(\\\\.[0-9]{1,18})?$'
const numberTypes = "('Int64', 'UInt64', 'Double')"
const notANumber = 0x7ff8_0000_0000_0000n

/** The SQL condition of a metadata search; adds its keys and values to the bound parameters in `values`. */
export function metadataCondition(text: string, values: Record<string, unknown>): string {
  let count = 0
  const toSql = (query: MetadataQuery): string => {
    if ('all' in query) return `(${query.all.map(toSql).join(' AND ')})`
    if ('any' in query) return `(${query.any.map(toSql).join(' OR ')})`
    return comparison(query, `metadata${count++}`, values)
  }
  return toSql(parseMetadataQuery(text))
}

/** The SQL of one comparison. The text also matches a number or boolean of equal value; null is a missing key. */
function comparison({ path, operator, value }: Condition, name: string, values: Record<string, unknown>): string {
  const keys = path.map((key, index) => {
    values[`${name}_key${index}`] = key
    return `{${name}_key${index}:String}`
  })
  const of = (read: string) => `${read}(metadata, ${keys.join(', ')})`
  const asNumber = number.test(value) ? Number(value) : Number.NaN
  values[`${name}_text`] = value
  values[`${name}_number`] = Number.isFinite(asNumber) ? floatBits(asNumber) : notANumber
  values[`${name}_parts`] = bindParts(path, operator, value, asNumber)
  // The number is passed as its 64 bits, because ClickHouse does not always parse decimal text to the nearest float.
  const numberParameter = `reinterpret({${name}_number:UInt64}, 'Float64')`
  const textParameter = `{${name}_text:String}`
  const type = of('JSONType')
  const text = of('JSONExtractString')
  const isEqual = operator === '=' || operator === '!='
  const branches = isEqual
    ? [`${type} = 'String', ${text} = ${textParameter}`, `${type} = 'Bool', ${of('JSONExtractRaw')} = ${textParameter}`]
    : [
        `${type} = 'String' AND isNaN(${numberParameter}), ${text} ${operator} ${textParameter}`,
        `${type} = 'String', match(${text}, '${shortNumber}') AND JSONExtractFloat(${text}) ${operator} ${numberParameter}`,
      ]
  const ofNumber = `${type} IN ${numberTypes}, ${of('JSONExtractFloat')} ${isEqual ? '=' : operator} ${numberParameter}`
  const found = `multiSearchAny(metadata, {${name}_parts:Array(String)})`
  const matches = `if(${found}, multiIf(${[...branches, ofNumber].join(', ')}, false), false)`
  return operator === '!=' ? `NOT ${matches}` : matches
}

/** Substrings, one of which matching JSON must contain, so that most rows are skipped without parsing their JSON. */
function bindParts(path: string[], operator: Operator, value: string, asNumber: number): string[] {
  if (operator !== '=' && operator !== '!=') return [`${JSON.stringify(path.at(-1))}:`]
  const text = JSON.stringify(value)
  if (value === 'true' || value === 'false') return [text, value]
  return Number.isFinite(asNumber) ? [text, searchableMetadata(JSON.stringify(asNumber))] : [text]
}

function floatBits(value: number): bigint {
  return new BigUint64Array(Float64Array.of(value).buffer)[0] as bigint
}

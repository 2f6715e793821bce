import { chunksInTurns } from '../../platform/batches.ts'
import { memo } from '../../platform/memo.ts'
import { encodeColumn, encodeLowCardinality, type NativeColumn } from '../../platform/native-format.ts'
import type { RowWriter } from '../../platform/row-binary.ts'

type Visitor = Record<'country' | 'region' | 'city' | 'continent' | 'device' | 'browser' | 'os', string>
type Origin = Record<'url' | 'trigger' | 'ip' | 'referer' | 'referer_url', string>
type Campaign = Record<'utm_source' | 'utm_medium' | 'utm_campaign' | 'utm_term' | 'utm_content', string>
/** The visitor columns of a click row, which lead and sale rows copy. */
export type ClickColumns = Visitor & Origin & Campaign
/**
 * A click row to insert. ClickHouse may delete it from `expires_on` on. `folded` is a bit mask of dimensions whose value is
 * so rare that rollups count it with others.
 */
export type NewClickRow = ClickColumns &
  Record<'workspace_id' | 'id_text' | 'bot' | 'link_number', string> & {
    timestamp: number
    expires_on?: string
    folded?: number
  }

/** Rows of `click_events` without the column `stored_at`, which an insert adds. */
export type EncodedClickRows = { rows: number; columns: NativeColumn[] }

/** Encodes clicks with `expires_on` and `folded`. */
export async function encodeClickRows(rows: NewClickRow[]): Promise<EncodedClickRows> {
  const columns: NativeColumn[] = []
  for await (const encoders of chunksInTurns(columnEncoders, encodedAtOnce))
    for (const encode of encoders) columns.push(encode(rows))
  return { rows: rows.length, columns }
}

/** The column `stored_at`: the time of the insert, in all rows. */
export function encodeStoredAt(rows: number): NativeColumn {
  const storedAt = Date.now()
  return encodeColumn('stored_at', moments, (writer) => {
    for (let row = 0; row < rows; row++) writer.int64(storedAt)
  })
}

const encodedAtOnce = 4
const dayMs = 86_400_000
const lastDay = '2149-06-06'
const clickIdBytes = 30
const moments = "DateTime64(3, 'UTC')"
const repeatedColumns = [
  ...(['workspace_id', 'trigger', 'bot', 'referer', 'country', 'region', 'city', 'continent'] as const),
  ...(['device', 'browser', 'os', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const),
]
const columnEncoders: ((rows: NewClickRow[]) => NativeColumn)[] = [
  ofRows('timestamp', moments, (writer, { timestamp }) => writer.int64(timestamp)),
  ofRows('id', 'FixedString(30)', (writer, { id_text }) => writer.base64(id_text, clickIdBytes)),
  ofRows('link_number', 'UInt64', (writer, { link_number }) => writer.uint64(link_number)),
  ofRows('ip', 'IPv6', (writer, { ip }) => writer.ipv6(ip)),
  ofRows('expires_on', 'Date', (writer, { expires_on = lastDay }) => writer.uint16(readDay(expires_on))),
  ofRows('folded', 'UInt16', (writer, { folded = 0 }) => writer.uint16(folded)),
  ofRows('url', 'String', (writer, { url }) => writer.string(url)),
  ofRows('referer_url', 'String', (writer, { referer_url }) => writer.string(referer_url)),
  ...repeatedColumns.map((name) => (rows: NewClickRow[]) => {
    const texts = rows.map((row) => row[name])
    return encodeLowCardinality(name, texts)
  }),
]

function ofRows(name: string, type: string, write: (writer: RowWriter, row: NewClickRow) => void) {
  return (rows: NewClickRow[]) =>
    encodeColumn(name, type, (writer) => {
      for (const row of rows) write(writer, row)
    })
}

const readDay = memo((text) => Date.parse(text) / dayMs, { maxBytes: 100_000 })

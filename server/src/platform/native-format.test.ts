import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openTestPlatform } from '../../test/stack.ts'
import { insertNative, query } from './clickhouse.ts'
import { encodeColumn, encodeLowCardinality } from './native-format.ts'
import type { RowWriter } from './row-binary.ts'

const { clickhouse } = await openTestPlatform()

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'binary-ascii', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom('\n', '\0', "'", '\\', 'a', 'é', '☕', '😀', '\ud800'), maxLength: 60 }),
)
const row = fc.record({
  text,
  name: fc.oneof(text, fc.constantFrom('', 'Unknown', '\ud800', '\ud801', '\ufffd')),
  id: fc.uint8Array({ minLength: 30, maxLength: 30 }),
  at: fc.maxSafeInteger(),
  number: fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 2n ** 53n })),
  bits: fc.nat(65_535),
  ip: fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('', 'none', '::ffff:192.0.2.1', '::192.0.2.1', '1.2.3')),
})

test('ClickHouse stores what was written', async () => {
  await clickhouse.command({
    query: `CREATE TABLE written_columns (run UInt16, row UInt16, text String, name LowCardinality(String), id FixedString(30),
        at Int64, number UInt64, bits UInt16, address IPv6)
      ENGINE = MergeTree ORDER BY (run, row)`,
  })
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 200 }), async (rows) => {
      run += 1
      type Row = (typeof rows)[number]
      const column = (name: string, type: string, write: (writer: RowWriter, row: Row, index: number) => void) =>
        encodeColumn(name, type, (writer) => {
          for (const [index, row] of rows.entries()) write(writer, row, index)
        })
      const columns = [
        column('run', 'UInt16', (writer) => writer.uint16(run)),
        column('row', 'UInt16', (writer, _, index) => writer.uint16(index)),
        column('text', 'String', (writer, { text }) => writer.string(text)),
        encodeLowCardinality(
          'name',
          rows.map(({ name }) => name),
        ),
        column('id', 'FixedString(30)', (writer, { id }) => writer.base64(Buffer.from(id).toString('base64url'), 30)),
        column('at', 'Int64', (writer, { at }) => writer.int64(at)),
        column('number', 'UInt64', (writer, { number }) => writer.uint64(String(number))),
        column('bits', 'UInt16', (writer, { bits }) => writer.uint16(bits)),
        column('address', 'IPv6', (writer, { ip }) => writer.ipv6(ip)),
      ]
      await insertNative(clickhouse, 'written_columns', { rows: rows.length, columns }, `run ${run}`)
      const found = await query(
        clickhouse,
        `SELECT text, name, hex(id) AS id, toString(at) AS at, toString(number) AS number, bits, address,
           toString(toIPv6OrDefault({sent:Array(String)}[row + 1])) AS sent
         FROM written_columns WHERE run = {run:UInt16} ORDER BY row`,
        { run, sent: rows.map(({ ip }) => ip) },
      )
      expect(found).toStrictEqual(
        rows.map(({ text, name, id, at, number, bits }, index) => {
          const { sent } = found[index] as { sent: string }
          return {
            text: text.toWellFormed(),
            name: name.toWellFormed(),
            id: Buffer.from(id).toString('hex').toUpperCase(),
            at: String(at),
            number: String(number),
            bits,
            address: sent,
            sent,
          }
        }),
      )
    }),
    { numRuns: 30 },
  )
})

test.each([1, 256, 257, 65_536, 65_537])('a column with %i different texts is stored', async (different) => {
  const table = `names_${different}`
  await clickhouse.command({
    query: `CREATE TABLE ${table} (row UInt32, name LowCardinality(String)) ENGINE = MergeTree ORDER BY row`,
  })
  const texts = Array.from({ length: different * 2 }, (_, row) => `name ${row % different}`)
  const columns = [
    encodeColumn('row', 'UInt32', (writer) => writer.numbers(Uint32Array.from(texts.keys()), 4)),
    encodeLowCardinality('name', texts),
  ]
  const block = { rows: texts.length, columns }
  for (const token of ['a', 'a']) await insertNative(clickhouse, table, block, token)
  const statement = `SELECT toString(count()) AS rows, toString(countIf(name = concat('name ', toString(row % ${different})))) AS right
    FROM (SELECT DISTINCT row, name FROM ${table})`
  expect(await query(clickhouse, statement, {})).toEqual([{ rows: `${texts.length}`, right: `${texts.length}` }])
})

test('a text that does not have the bytes of its column is refused', () => {
  expect(() => encodeColumn('id', 'FixedString(30)', (writer) => writer.base64('AAAA', 30))).toThrow(
    '"AAAA" has 3 bytes instead of 30',
  )
})

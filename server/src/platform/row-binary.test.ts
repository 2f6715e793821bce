import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openTestPlatform } from '../../test/stack.ts'
import { insertBinary, query } from './clickhouse.ts'
import { openRowWriter } from './row-binary.ts'

const { clickhouse } = await openTestPlatform()

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'binary-ascii', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom('\n', '\0', "'", '\\', 'a', 'é', '☕', '😀', '\ud800'), maxLength: 60 }),
)
const row = fc.record({
  text,
  at: fc.maxSafeInteger(),
  number: fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 2n ** 53n })),
  bits: fc.nat(65_535),
  ip: fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('', 'none', '::ffff:192.0.2.1', '::192.0.2.1', '1.2.3')),
})

test('ClickHouse stores what was written', async () => {
  await clickhouse.command({
    query: `CREATE TABLE written_rows (run UInt16, id UInt16, text String, at Int64, number UInt64, bits UInt16, address IPv6)
      ENGINE = MergeTree ORDER BY (run, id)`,
  })
  const columns = ['run', 'id', 'text', 'at', 'number', 'bits', 'address']
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 200 }), async (rows) => {
      run += 1
      const writer = openRowWriter(1)
      for (const [id, { text, at, number, bits, ip }] of rows.entries()) {
        writer.uint16(run)
        writer.uint16(id)
        writer.string(text)
        writer.int64(at)
        writer.uint64(String(number))
        writer.uint16(bits)
        writer.ipv6(ip)
      }
      await insertBinary(clickhouse, 'written_rows', columns, writer.finish(), `run ${run}`)
      const found = await query(
        clickhouse,
        `SELECT text, toString(at) AS at, toString(number) AS number, bits, address, toString(toIPv6OrDefault({sent:Array(String)}[id + 1])) AS sent
         FROM written_rows WHERE run = {run:UInt16} ORDER BY id`,
        { run, sent: rows.map(({ ip }) => ip) },
      )
      expect(found).toStrictEqual(
        rows.map(({ text, at, number, bits }, index) => {
          const { sent } = found[index] as { sent: string }
          return { text: text.toWellFormed(), at: String(at), number: String(number), bits, address: sent, sent }
        }),
      )
    }),
    { numRuns: 30 },
  )
})

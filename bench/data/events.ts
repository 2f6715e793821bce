import type { Platform } from '../../server/src/platform/context.ts'

const generatedAtOnce = 500_000

/** Generates clicks on these links, inside ClickHouse. */
export async function generateEvents(
  { clickhouse }: Platform,
  { workspaceId, numbers, count }: { workspaceId: string; numbers: bigint[]; count: number },
): Promise<void> {
  for (let from = 0; from < count; from += generatedAtOnce) {
    const some = Math.min(generatedAtOnce, count - from)
    await clickhouse.command({
      query: `INSERT INTO click_events (workspace_id, timestamp, id, link_number, url, trigger, ip, country, region, city,
        continent, device, browser, os, referer, referer_url, utm_source)
      SELECT {workspaceId:String}, fromUnixTimestamp64Milli(toInt64(1750000000000 + intDiv(number, 3) * 10), 'UTC'),
        toFixedString(concat(hex(cityHash64(number)), hex(number)), 30),
        {numbers:Array(UInt64)}[number % length({numbers:Array(UInt64)}) + 1],
        concat('https://example.com/', toString(number % 1000)), 'link', toIPv6('::ffff:10.0.0.1'),
        ['FR', 'DE', 'US', 'JP'][number % 4 + 1], 'DE-BE', 'Berlin', 'EU', 'Desktop', 'Chrome', 'Linux', 'example.org',
        concat('https://example.org/', toString(cityHash64(number) % 100000)), 'news'
      FROM numbers({from:UInt64}, {some:UInt64})`,
      query_params: { workspaceId, numbers, from, some },
    })
    console.error(`${from + some} of ${count} events generated`)
  }
}

import { sql } from 'kysely'
import { conversionRecorded, conversionSubjects } from '../../server/src/features/track/messages.ts'
import { readConfig } from '../../server/src/platform/config.ts'
import { claimEvents } from '../../server/src/platform/handled-events.ts'
import { openPlatform } from '../../server/src/platform/handles.ts'
import { job, startJobs } from '../../server/src/platform/jobs.ts'
import { openLog } from '../../server/src/platform/log.ts'
import { startRelay } from '../../server/src/platform/outbox.ts'
import { transaction } from '../../server/src/platform/postgres.ts'

/* A worker with one subscriber, which sums sales in a table that has no unique key per event. */

const platform = await openPlatform(readConfig(process.env), openLog('silent'))
const subscriber = 'sum-of-sales'
startRelay(platform)
await startJobs(platform, [
  job({
    name: subscriber,
    subject: conversionSubjects.sale,
    schema: conversionRecorded,
    handle: (platform, sales) =>
      transaction(platform, async ({ db }) => {
        const fresh = await claimEvents(
          db,
          subscriber,
          sales.map(({ id }) => id),
        )
        const mine = new Map(sales.filter(({ id }) => fresh.has(id)).map((sale) => [sale.id, sale]))
        const amount = [...mine.values()].reduce((sum, sale) => sum + sale.amount, 0)
        await sql`UPDATE sum_of_sales SET sales = sales + ${mine.size}, amount = amount + ${amount}`.execute(db)
      }),
  }),
])
console.log('ready')

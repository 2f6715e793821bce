import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { buildConversionLink } from '../server/test/build.ts'
import { type ServerProcess, startServer } from '../server/test/server-process.ts'
import { openTestPlatform } from '../server/test/stack.ts'

const platform = await openTestPlatform()

/** Retries the same request until there is a response, as a client does. */
async function call(server: () => ServerProcess, path: string, key: string, body: object): Promise<string> {
  const until = Date.now() + 120_000
  for (;;) {
    try {
      const response = await fetch(`${server().api}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(10_000),
      })
      if (response.status === 200) return await response.text()
      throw new Error(`${response.status} ${await response.text()}`)
    } catch (error) {
      if (Date.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

test.each([5, 40, 120])(
  '50 identical concurrent requests record one lead and one sale, with the api killed after %d ms',
  async (afterMs) => {
    const { workspace, click } = await buildConversionLink(platform)
    const environment = { ...inject('environment'), ROLES: 'api' }
    let server = await startServer(environment)
    const many = (path: string, body: object) =>
      Promise.all(Array.from({ length: 50 }, () => call(() => server, path, workspace.key, body)))
    const killed = async <T>(work: Promise<T>): Promise<T> => {
      await new Promise((resolve) => setTimeout(resolve, afterMs))
      server.kill('SIGKILL')
      server = await startServer(environment)
      return work
    }
    try {
      const lead = { clickId: click().id, eventName: 'Sign up', customerExternalId: 'ada', customerName: 'Ada' }
      const leads = await killed(many('/track/lead', lead))
      const sales = await killed(many('/track/sale', { customerExternalId: 'ada', amount: 700, invoiceId: 'in_1' }))
      expect([new Set(leads).size, new Set(sales).size]).toEqual([1, 1])
      const rows = await sql<{ kind: string }>`
        SELECT kind FROM conversions WHERE workspace_id = ${workspace.id} ORDER BY number`.execute(platform.db)
      expect(rows.rows.map(({ kind }) => kind)).toEqual(['lead', 'sale'])
      const customers = await sql<{ sales: bigint; sale_amount: bigint }>`
        SELECT sales, sale_amount FROM customers WHERE workspace_id = ${workspace.id}`.execute(platform.db)
      expect(customers.rows).toEqual([{ sales: 1n, sale_amount: 700n }])
    } finally {
      await server.stop()
    }
  },
)

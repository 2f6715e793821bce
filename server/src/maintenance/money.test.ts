import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildPartner, buildProgram, buildReward, decideAll, recordRefund, recordSale } from '../../test/program.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { runMaturing } from '../features/commissions/mature.ts'
import { transaction } from '../platform/postgres.ts'
import { type MoneyFinding, verifyMoney } from './money.ts'

const platform = await openTestPlatform()
const { db } = platform

async function buildWorld() {
  const program = await buildProgram(platform)
  await buildReward(program)
  const partner = await buildPartner(platform, program)
  const { workspaceId } = program.ctx
  const { invoiceId } = await recordSale(platform, program, partner)
  await decideAll(platform, program)
  await runMaturing(platform, new Date(Date.now() + 1_000), { workspaceIds: [workspaceId] })
  await recordSale(platform, program, partner)
  await recordRefund(program, invoiceId, 1_000)
  await decideAll(platform, program)
  const verify = (db = platform.db) => verifyMoney({ ...platform, db }, { workspaceId })
  return { program, partner, workspaceId, verify }
}

test('finds nothing in a program with sales, refunds and payouts', async () => {
  const { verify, workspaceId } = await buildWorld()
  await eventually(async () => {
    const left = await sql`SELECT FROM conversions WHERE workspace_id = ${workspaceId} AND stored_at IS NULL`.execute(
      db,
    )
    expect(left.rows).toEqual([])
  })
  expect(await verify()).toEqual([])
})

test.each([
  [
    'UPDATE commissions SET earnings = earnings + 1 WHERE status = $s',
    ['accrued in the ledger', 'total of the partner'],
  ],
  ['UPDATE payouts SET amount = amount + 1', ['due in the ledger', 'payout po_']],
  ['UPDATE ledger_balances SET credit = credit + 1', ['accrued balance in the ledger', 'accrued in the ledger']],
  ['UPDATE ledger_sums SET debit = debit + 1', ['expense balance in the ledger']],
  ['UPDATE partner_totals SET commissions = commissions + 1', ['total of the partner']],
  ['DELETE FROM commission_decisions', ['sale evt_']],
  ['DELETE FROM commission_keys', ['commissions of sale evt_']],
])('finds what %s breaks', async (statement, expected) => {
  const { verify, workspaceId, partner } = await buildWorld()
  const conditions: Record<string, string> = {
    ledger_balances: `account IN (SELECT number FROM ledger_accounts WHERE workspace_id = '${workspaceId}')`,
    commission_keys: `partner_number = ${partner.number}`,
  }
  const table = /(?:UPDATE|FROM) (\w+)/.exec(statement)?.[1] ?? ''
  const text = statement.replace('$s', "'pending'")
  const where = conditions[table] ?? `workspace_id = '${workspaceId}'`
  // Rolled back, because other tests verify all workspaces.
  const undo = new Error('undo')
  let findings: MoneyFinding[] = []
  await transaction(platform, async ({ db }) => {
    await sql`${sql.raw(text)} ${sql.raw(text.includes('WHERE') ? 'AND' : 'WHERE')} ${sql.raw(where)}`.execute(db)
    findings = await verify(db)
    throw undo
  }).catch((error) => {
    if (error !== undo) throw error
  })
  for (const what of expected) expect(findings.map((finding) => finding.what).join('\n')).toContain(what)
})

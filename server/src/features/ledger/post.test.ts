import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { transaction } from '../../platform/postgres.ts'
import { differentBalances, differentSums, foldLedgerSums, type LedgerEntry, partnerBalances, post } from './service.ts'

const platform = await openTestPlatform()
const { db } = platform

async function buildPartners(count: number) {
  const workspace = await buildWorkspace(platform)
  const group = await sql<{ number: bigint }>`INSERT INTO partner_groups (id, workspace_id, name, slug, is_default)
    VALUES (${`grp_${randomUUID()}`}, ${workspace.id}, 'Default', 'default', true) RETURNING number`.execute(db)
  const partners = await sql<{ number: bigint }>`INSERT INTO partners (id, workspace_id, group_number, status, name)
    SELECT 'pn_' || gen_random_uuid(), ${workspace.id}, ${group.rows[0]?.number}, 'approved', 'Ada'
    FROM generate_series(1, ${count}::int) RETURNING number`.execute(db)
  return { workspaceId: workspace.id, partners: partners.rows.map(({ number }) => number) }
}

const earned = (partnerNumber: bigint, amount: bigint, currency = 'usd'): LedgerEntry => ({
  kind: 'earned',
  currency,
  debit: { kind: 'expense', partnerNumber: null },
  credit: { kind: 'accrued', partnerNumber },
  amount,
})

async function expectSound(workspaceId: string) {
  const { rows } = await differentBalances(platform, { after: 0n, count: 1_000, workspaceId })
  expect([...rows, ...(await differentSums(platform, workspaceId))]).toEqual([])
}

test('a posting debits one account and credits another; a negative amount swaps them, and zero posts nothing', async () => {
  const { workspaceId, partners } = await buildPartners(1)
  const [partner = 0n] = partners
  await post(db, workspaceId, [earned(partner, 500n), earned(partner, -120n), earned(partner, 0n)])
  const postings = await sql`SELECT d.kind AS debit, c.kind AS credit, p.amount FROM ledger_postings p
    JOIN ledger_accounts d ON d.number = p.debit JOIN ledger_accounts c ON c.number = p.credit
    WHERE p.workspace_id = ${workspaceId} ORDER BY p.number`.execute(db)
  expect(postings.rows).toEqual([
    { debit: 'expense', credit: 'accrued', amount: 500n },
    { debit: 'accrued', credit: 'expense', amount: 120n },
  ])
  expect(await partnerBalances(db, workspaceId, partners)).toEqual([
    { partnerNumber: partner, kind: 'accrued', currency: 'usd', owed: 380n },
  ])
  await expectSound(workspaceId)
})

test('postings of one call share a ledger transaction', async () => {
  const { workspaceId, partners } = await buildPartners(2)
  await post(
    db,
    workspaceId,
    partners.map((partner) => earned(partner, 1n)),
  )
  await post(
    db,
    workspaceId,
    partners.map((partner) => earned(partner, 1n)),
  )
  const found = await sql<{ count: bigint }>`SELECT count(*) FROM ledger_postings
    WHERE workspace_id = ${workspaceId} GROUP BY transaction`.execute(db)
  expect(found.rows.map(({ count }) => count)).toEqual([2n, 2n])
})

test('PostgreSQL refuses to change, delete or truncate postings', async () => {
  const { workspaceId, partners } = await buildPartners(1)
  await post(db, workspaceId, [earned(partners[0] as bigint, 5n)])
  await expect(
    sql`UPDATE ledger_postings SET amount = 6 WHERE workspace_id = ${workspaceId}`.execute(db),
  ).rejects.toThrow('rows of ledger_postings never change')
  await expect(sql`DELETE FROM ledger_postings WHERE workspace_id = ${workspaceId}`.execute(db)).rejects.toThrow(
    'rows of ledger_postings never change',
  )
  await expect(sql`TRUNCATE ledger_postings`.execute(db)).rejects.toThrow('rows of ledger_postings never change')
})

test('PostgreSQL refuses a posting between currencies, to the same account, or of no amount', async () => {
  const { workspaceId, partners } = await buildPartners(1)
  const [partner = 0n] = partners
  await post(db, workspaceId, [earned(partner, 5n), earned(partner, 5n, 'eur')])
  const accounts = await sql<{ number: bigint; kind: string; currency: string }>`
    SELECT number, kind, currency FROM ledger_accounts WHERE workspace_id = ${workspaceId}`.execute(db)
  const find = (kind: string, currency: string) =>
    accounts.rows.find((account) => account.kind === kind && account.currency === currency)?.number
  const insert = (debit: bigint | undefined, credit: bigint | undefined, amount: number) =>
    sql`INSERT INTO ledger_postings (transaction, workspace_id, kind, currency, debit, credit, amount)
      VALUES (1, ${workspaceId}, 'earned', 'usd', ${debit}, ${credit}, ${amount})`.execute(db)
  const [expense, accrued, euros] = [find('expense', 'usd'), find('accrued', 'usd'), find('accrued', 'eur')]
  await expect(insert(expense, euros, 5)).rejects.toThrow('foreign key')
  await expect(insert(accrued, accrued, 5)).rejects.toThrow('check')
  await expect(insert(expense, accrued, 0)).rejects.toThrow('check')
})

test('concurrent posts to the same partners in any order neither deadlock nor lose an amount', async () => {
  const { workspaceId, partners } = await buildPartners(12)
  const posts = Array.from({ length: 60 }, (_, index) =>
    transaction(platform, ({ db }) => {
      const some = partners.map((_, at) => partners[(at * 5 + index) % partners.length] as bigint).slice(0, 7)
      return post(
        db,
        workspaceId,
        some.map((partner) => earned(partner, BigInt(index + 1))),
      )
    }),
  )
  await Promise.all(posts)
  const balances = await partnerBalances(db, workspaceId, partners)
  expect(balances.reduce((sum, { owed }) => sum + owed, 0n)).toBe(7n * ((60n * 61n) / 2n))
  await expectSound(workspaceId)
})

test('sums by day and kind stay exact while they are folded', async () => {
  const { workspaceId, partners } = await buildPartners(1)
  const [partner = 0n] = partners
  const signal = new AbortController().signal
  const folding = Array.from({ length: 4 }, () => foldLedgerSums(platform, signal))
  for (let index = 0; index < 20; index++) await post(db, workspaceId, [earned(partner, 3n)])
  await Promise.all(folding)
  await foldLedgerSums(platform, signal)
  const sums = await sql`SELECT kind, debit::int, credit::int FROM ledger_sums
    WHERE workspace_id = ${workspaceId} ORDER BY kind`.execute(db)
  expect(sums.rows).toEqual([
    { kind: 'accrued', debit: 0, credit: 60 },
    { kind: 'expense', debit: 60, credit: 0 },
  ])
  await expectSound(workspaceId)
})

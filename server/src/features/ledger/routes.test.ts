import { createClient } from '@tributary/contract/client'
import { getBalances, listPostings } from '@tributary/contract/ledger'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { buildPartner, buildProgram } from '../../../test/program.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { type LedgerEntry, post } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function buildLedger() {
  const program = await buildProgram(platform)
  const [ada, bob] = [await buildPartner(platform, program), await buildPartner(platform, program)]
  const { workspaceId } = program.ctx
  const earn = (partnerNumber: bigint, amount: bigint): LedgerEntry => ({
    kind: 'earned',
    currency: 'usd',
    debit: { kind: 'expense', partnerNumber: null },
    credit: { kind: 'accrued', partnerNumber },
    amount,
  })
  await post(platform.db, workspaceId, [earn(ada.number, 1_050n)])
  await post(platform.db, workspaceId, [earn(bob.number, 200n)])
  await post(platform.db, workspaceId, [{ ...earn(ada.number, -50n), kind: 'corrected' }])
  const client = createClient({ url: api, token: program.workspace.key })
  const download = async (query: string) => {
    const headers = { authorization: `Bearer ${program.workspace.key}` }
    const response = await fetch(`${api}/ledger/export?${query}`, { headers })
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
  }
  const account = (id: string, kind: string) => `Liabilities:Partners:PN-${id.slice(3)}:${kind}`
  return { program, ada, bob, client, download, account }
}

describe('listPostings', () => {
  it('200: lists postings newest first, with account names', async () => {
    const { client, ada, account } = await buildLedger()
    const postings = await client(listPostings, {})
    expect(postings.map(({ amount }) => amount)).toEqual([50, 200, 1_050])
    expect(postings[0]).toEqual({
      transaction: expect.stringMatching(/^\d+$/),
      kind: 'corrected',
      currency: 'usd',
      debit: account(ada.id, 'Accrued'),
      credit: 'Expenses:Commissions',
      amount: 50,
      partnerId: ada.id,
      commissionId: null,
      payoutId: null,
      createdAt: expect.any(String),
    })
  })

  it('200: filters by partner, kind and time, and pages by cursor', async () => {
    const { client, ada, bob, program } = await buildLedger()
    const list = async (query: object) => (await client(listPostings, { query })).map(({ amount }) => amount)
    expect(await list({ partnerId: ada.id })).toEqual([50, 1_050])
    expect(await list({ partnerId: bob.id })).toEqual([200])
    expect(await list({ kind: 'earned', sortOrder: 'asc' })).toEqual([1_050, 200])
    expect(await list({ end: '2020-01-01T00:00:00Z' })).toEqual([])
    expect(await list({ start: '2020-01-01T00:00:00Z', pageSize: 1, page: 2 })).toEqual([200])
    const headers = { authorization: `Bearer ${program.workspace.key}` }
    const seen: number[] = []
    for (let cursor: string | null = '', pages = 0; cursor !== null && pages < 5; pages++) {
      const response: Response = await fetch(`${api}/ledger/postings?pageSize=2${cursor && `&cursor=${cursor}`}`, {
        headers,
      })
      seen.push(...((await response.json()) as { amount: number }[]).map(({ amount }) => amount))
      cursor = response.headers.get('x-next-cursor')
    }
    expect(seen).toEqual([50, 200, 1_050])
  })

  it('404: without a program, or with an unknown partner', async () => {
    const { client } = await buildLedger()
    await expect(client(listPostings, { query: { partnerId: 'pn_x' } })).rejects.toMatchObject({ status: 404 })
    const other = createClient({ url: api, token: (await buildWorkspace(platform)).key })
    await expect(other(listPostings, {})).rejects.toMatchObject({ status: 404 })
  })

  it('422: a cursor of another workspace', async () => {
    const { client } = await buildLedger()
    await expect(client(listPostings, { query: { cursor: 'xyz' } })).rejects.toMatchObject({ status: 422 })
  })
})

describe('getLedgerBalances', () => {
  it('200: of the program, and of one partner', async () => {
    const { client, ada, account } = await buildLedger()
    expect(await client(getBalances, {})).toEqual({
      balances: [
        { account: 'Liabilities:Partners:Accrued', currency: 'usd', debit: 50, credit: 1_250, balance: -1_200 },
        { account: 'Expenses:Commissions', currency: 'usd', debit: 1_250, credit: 50, balance: 1_200 },
      ],
    })
    expect(await client(getBalances, { query: { partnerId: ada.id } })).toEqual({
      balances: [{ account: account(ada.id, 'Accrued'), currency: 'usd', debit: 50, credit: 1_050, balance: -1_000 }],
    })
  })
})

describe('exportLedger', () => {
  it('200: CSV and JSON with all postings, oldest first', async () => {
    const { download, ada } = await buildLedger()
    const csv = await download('format=csv')
    expect(csv).toMatchObject({ status: 200, type: 'text/csv; charset=utf-8; header=present' })
    const lines = csv.text.trim().split('\r\n')
    expect(lines[0]).toBe('createdAt,transaction,kind,debit,credit,amount,currency,partnerId,commissionId,payoutId')
    expect(lines).toHaveLength(4)
    expect(lines[1]).toContain(`,1050,usd,${ada.id},,`)
    const json = (await download('format=json')).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(json.map(({ amount }) => amount)).toEqual([1_050, 200, 50])
  })

  it('200: the trial balance of each month balances', async () => {
    const { download, program } = await buildLedger()
    await sql`UPDATE ledger_sums SET day = day - 40 WHERE workspace_id = ${program.ctx.workspaceId}
      AND credit = 200 OR debit = 200 AND workspace_id = ${program.ctx.workspaceId}`.execute(platform.db)
    const rows = (await download('format=json&report=trial-balance')).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(rows).toMatchObject([
      { account: 'Liabilities:Partners:Accrued', opening: 0, debit: 0, credit: 200, closing: -200 },
      { account: 'Expenses:Commissions', opening: 0, debit: 200, credit: 0, closing: 200 },
      { account: 'Liabilities:Partners:Accrued', opening: -200, debit: 50, credit: 1_050, closing: -1_200 },
      { account: 'Expenses:Commissions', opening: 200, debit: 1_050, credit: 50, closing: 1_200 },
    ])
    const csv = (await download('format=csv&report=trial-balance')).text
    expect(csv).toContain('month,account,currency,opening,debit,credit,closing\r\n')
  })

  it('200: beancount with an opened account for each name, and balanced entries', async () => {
    const { download, ada, account } = await buildLedger()
    const { text } = await download('format=beancount')
    const today = new Date().toISOString().slice(0, 10)
    expect(text).toContain(`${today} open ${account(ada.id, 'Accrued')}\n`)
    expect(text).toContain(`  Expenses:Commissions  10.50 USD\n  ${account(ada.id, 'Accrued')}  -10.50 USD\n`)
    for (const [, name = ''] of text.matchAll(/^ {2}([A-Z]\S+) /gm)) {
      expect(text).toContain(` open ${name}\n`)
      expect(name).toMatch(/^(Assets|Liabilities|Expenses|Income)(:[A-Z0-9][A-Za-z0-9-]*)+$/)
    }
  })
})

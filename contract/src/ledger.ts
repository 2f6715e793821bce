import { z } from 'zod'
import { instant, listing } from './common.ts'
import { defaultActors, operation, type StreamOperation } from './operation.ts'

export const postingKinds = ['earned', 'corrected', 'reversed', 'restored', 'matured', 'returned', 'merged'] as const

const account = z
  .string()
  .describe('Account name, such as `Expenses:Commissions` or `Liabilities:Partners:PN-<uuid>:Accrued`.')
const amount = z.number().int().describe('In the smallest unit of the currency.')

export const posting = z
  .strictObject({
    transaction: z.string().describe('Id that postings of the same change share.'),
    kind: z
      .enum(postingKinds)
      .describe(
        'What happened: a commission was `earned`, `corrected`, `reversed` or `restored`; commissions `matured` into a payout, `returned` from one, or `merged` into another partner.',
      ),
    currency: z.string(),
    debit: account,
    credit: account,
    amount,
    partnerId: z.string().nullable(),
    commissionId: z.string().nullable(),
    payoutId: z.string().nullable(),
    createdAt: instant,
  })
  .meta({ id: 'Posting' })
export type Posting = z.infer<typeof posting>

const balance = z
  .strictObject({
    account,
    currency: z.string(),
    debit: amount.describe('Sum of all debits.'),
    credit: amount.describe('Sum of all credits.'),
    balance: amount.describe('Debits minus credits. What you owe partners is therefore negative.'),
  })
  .meta({ id: 'AccountBalance' })
export type AccountBalance = z.infer<typeof balance>

const period = {
  start: z.iso.datetime({ offset: true }).optional().describe('Only postings at or after this time.'),
  end: z.iso.datetime({ offset: true }).optional().describe('Only postings before this time.'),
}

export const listPostings = operation({
  id: 'listPostings',
  method: 'get',
  path: '/ledger/postings',
  summary: 'List ledger postings',
  description:
    'Lists postings of the partner program, newest first. A posting has one debit and one credit account of the same currency and never changes; corrections are further postings.',
  tag: 'Ledger',
  scope: 'payouts.read',
  query: z.object({
    partnerId: z.string().max(100).optional().describe("Only postings of this partner's accounts."),
    kind: z.enum(postingKinds).optional(),
    ...period,
    cursor: z
      .string()
      .max(1_000)
      .optional()
      .describe('Cursor, instead of `page`: `X-Next-Cursor` of the previous response.'),
    ...listing(100, ['createdAt'], 'desc'),
  }),
  response: z.array(posting),
  responseHeaders: { 'X-Next-Cursor': 'Cursor of the next page; absent on the last page.' },
})
export type PostingsQuery = z.output<typeof listPostings.query>

export const getBalances = operation({
  id: 'getLedgerBalances',
  method: 'get',
  path: '/ledger/balances',
  summary: 'Get ledger balances',
  description:
    'Returns the balance of each account of a partner, or without `partnerId` the sums of all partners and the accounts of the program.',
  tag: 'Ledger',
  scope: 'payouts.read',
  query: z.object({ partnerId: z.string().max(100).optional() }),
  response: z.strictObject({ balances: z.array(balance) }),
})

export const ledgerFormats = ['csv', 'json', 'beancount'] as const

const exportQuery = z.object({
  format: z
    .enum(ledgerFormats)
    .default('csv')
    .describe('`csv`, `json` (one object per line) or `beancount` (a file for the accounting program).'),
  report: z
    .enum(['postings', 'trial-balance'])
    .default('postings')
    .describe(
      'All postings, or the trial balance of each month. `beancount` has both: the trial balance as balance assertions.',
    ),
  ...period,
})
export type LedgerExportQuery = z.output<typeof exportQuery>

export const exportLedger = {
  kind: 'stream',
  id: 'exportLedger',
  method: 'get',
  path: '/ledger/export',
  summary: 'Export the ledger',
  description: 'Streams all postings, oldest first, or the trial balance of each month.',
  tag: 'Ledger',
  actors: defaultActors,
  scope: 'payouts.read',
  limit: 'export',
  plan: 'free',
  query: exportQuery,
  contents: ['text/csv', 'application/x-ndjson', 'text/plain'],
  openPerActor: 2,
} as const satisfies StreamOperation

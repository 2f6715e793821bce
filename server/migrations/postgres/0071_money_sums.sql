-- Contract: no release has read these columns.
-- Sums of money have no largest value, so that no sale, correction or payout fails because of those before it.
ALTER TABLE partner_totals ALTER COLUMN sale_amount TYPE numeric(38), ALTER COLUMN commissions TYPE numeric(38);
ALTER TABLE ledger_balances ALTER COLUMN debit TYPE numeric(38), ALTER COLUMN credit TYPE numeric(38);
ALTER TABLE payouts ALTER COLUMN amount TYPE numeric(38);

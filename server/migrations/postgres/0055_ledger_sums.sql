-- Sums of all postings by day and kind of account, from which trial balances are read. Each posting transaction appends
-- its own rows, because a row per day would make all writers wait for each other; a job adds the rows of a day together.
CREATE TABLE ledger_sums (
  workspace_id text NOT NULL REFERENCES workspaces (id),
  day date NOT NULL,
  kind text NOT NULL,
  currency text NOT NULL,
  debit numeric NOT NULL,
  credit numeric NOT NULL,
  is_folded boolean NOT NULL DEFAULT false
);
CREATE INDEX ledger_sums_day ON ledger_sums (workspace_id, day);
CREATE INDEX ledger_sums_unfolded ON ledger_sums (workspace_id, day) WHERE NOT is_folded;

-- Postings of a period, and of one account.
CREATE INDEX ledger_postings_time ON ledger_postings (workspace_id, created_at, number);
CREATE INDEX ledger_postings_debit ON ledger_postings (debit, created_at, number);
CREATE INDEX ledger_postings_credit ON ledger_postings (credit, created_at, number);
DROP INDEX ledger_postings_newest;

-- Leads, sales and refunds of partners' links that are not decided yet: the queue of the reward engine.
CREATE TABLE commission_queue (
  conversion_number bigint PRIMARY KEY,
  workspace_id text NOT NULL,
  partner_id text NOT NULL
);
CREATE INDEX commission_queue_partner ON commission_queue (partner_id, conversion_number);

CREATE FUNCTION queue_conversions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO commission_queue (conversion_number, workspace_id, partner_id)
    SELECT number, workspace_id, partner_id FROM added WHERE partner_id IS NOT NULL;
  RETURN NULL;
END $$;

CREATE TRIGGER conversions_queued AFTER INSERT ON conversions
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION queue_conversions();

-- One payout per partner and currency is open at a time, and collects what is due.
CREATE TABLE payouts (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE,
  workspace_id text NOT NULL REFERENCES workspaces (id),
  partner_number bigint NOT NULL REFERENCES partners (number),
  currency text NOT NULL,
  amount bigint NOT NULL DEFAULT 0,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN
    ('pending', 'processing', 'processed', 'sent', 'completed', 'failed', 'canceled')),
  period_start timestamptz,
  period_end timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (status IN ('pending', 'canceled') OR amount > 0)
);
CREATE UNIQUE INDEX payouts_open ON payouts (partner_number, currency) WHERE status = 'pending';
CREATE INDEX payouts_amount ON payouts (workspace_id, status, amount);

CREATE TABLE commissions (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL,
  workspace_id text NOT NULL,
  partner_number bigint NOT NULL,
  type text NOT NULL CHECK (type IN ('click', 'lead', 'sale', 'referral', 'custom')),
  status text NOT NULL CHECK (status IN
    ('pending', 'processed', 'paid', 'refunded', 'duplicate', 'fraud', 'canceled', 'hold')),
  amount bigint NOT NULL,
  earnings bigint NOT NULL,
  currency text NOT NULL,
  quantity integer NOT NULL DEFAULT 1,
  conversion_number bigint,
  customer_id text,
  link_number bigint,
  reward_version bigint REFERENCES reward_versions (number),
  payout_number bigint REFERENCES payouts (number),
  invoice_id text,
  description text,
  metadata jsonb,
  actor text,
  due_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  paid_at timestamptz
) WITH (fillfactor = 90);
CREATE UNIQUE INDEX commissions_id ON commissions (id);
CREATE INDEX commissions_newest ON commissions (workspace_id, created_at, number);
CREATE INDEX commissions_amount ON commissions (workspace_id, amount, number);
CREATE INDEX commissions_partner ON commissions (partner_number, created_at, number);
CREATE INDEX commissions_customer ON commissions (customer_id, partner_number, type) WHERE customer_id IS NOT NULL;
CREATE INDEX commissions_conversion ON commissions (conversion_number) WHERE conversion_number IS NOT NULL;
CREATE INDEX commissions_payout ON commissions (payout_number) WHERE payout_number IS NOT NULL;
CREATE INDEX commissions_due ON commissions (workspace_id, due_at) WHERE status = 'pending';
CREATE INDEX commissions_invoice ON commissions (workspace_id, invoice_id) WHERE invoice_id IS NOT NULL;

-- An event is rewarded once: `source` is a growing number of its kind (conversion, click day, refund).
CREATE TABLE commission_keys (
  source bigint NOT NULL,
  kind smallint NOT NULL,
  part smallint NOT NULL DEFAULT 0,
  partner_number bigint NOT NULL,
  commission_number bigint NOT NULL,
  PRIMARY KEY (source, kind, part, partner_number)
);

-- Why a commission has its amount: the event, the terms' version, each condition with its value, formula, cap and window.
CREATE TABLE commission_details (
  commission_number bigint PRIMARY KEY REFERENCES commissions (number),
  why jsonb NOT NULL
);

-- What became of each lead, sale and refund of a partner's link.
CREATE TABLE commission_decisions (
  conversion_number bigint PRIMARY KEY,
  workspace_id text NOT NULL,
  partner_number bigint,
  -- Null when there are commissions.
  reason text,
  detail jsonb,
  decided_at timestamptz NOT NULL DEFAULT now()
);

-- The first sale of a customer through a partner binds the pair to a version of the terms.
CREATE TABLE commission_bindings (
  partner_number bigint NOT NULL,
  customer_id text NOT NULL,
  workspace_id text NOT NULL,
  reward_version bigint NOT NULL REFERENCES reward_versions (number),
  commission_number bigint NOT NULL,
  first_sale_at timestamptz NOT NULL,
  -- Null for ever; equal to first_sale_at for the first sale only.
  ends_at timestamptz,
  PRIMARY KEY (partner_number, customer_id)
);

-- Earnings counted against the cap of a reward, for each scope and period.
CREATE TABLE commission_spending (
  reward_number bigint NOT NULL REFERENCES rewards (number),
  scope text NOT NULL,
  period_start timestamptz NOT NULL,
  amount bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (reward_number, scope, period_start)
);

-- The ledger. A posting has one debit and one credit account of the same currency, so the books balance by construction.
CREATE TABLE ledger_accounts (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id),
  partner_number bigint REFERENCES partners (number),
  kind text NOT NULL CHECK (kind IN ('expense', 'accrued', 'due', 'clearing', 'cash', 'fee', 'writeoff')),
  currency text NOT NULL,
  UNIQUE NULLS NOT DISTINCT (workspace_id, partner_number, kind, currency),
  UNIQUE (number, currency)
);

CREATE SEQUENCE ledger_transactions;
CREATE TABLE ledger_postings (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  transaction bigint NOT NULL,
  workspace_id text NOT NULL,
  kind text NOT NULL,
  currency text NOT NULL,
  debit bigint NOT NULL,
  credit bigint NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  commission_number bigint,
  payout_number bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (debit, currency) REFERENCES ledger_accounts (number, currency),
  FOREIGN KEY (credit, currency) REFERENCES ledger_accounts (number, currency),
  CHECK (debit <> credit)
);
CREATE INDEX ledger_postings_newest ON ledger_postings (workspace_id, number);
CREATE INDEX ledger_postings_commission ON ledger_postings (commission_number) WHERE commission_number IS NOT NULL;
REVOKE UPDATE, DELETE, TRUNCATE ON ledger_postings FROM PUBLIC;
CREATE TRIGGER ledger_postings_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_postings
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Balances of partners' accounts and of clearing; program-wide accounts have none, because all writers would meet there.
CREATE TABLE ledger_balances (
  account bigint PRIMARY KEY REFERENCES ledger_accounts (number),
  debit bigint NOT NULL DEFAULT 0,
  credit bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

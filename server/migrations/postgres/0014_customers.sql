-- Of a customer who was erased the row stays, without a person, for the events that name it.
CREATE TABLE customers (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  external_id text,
  name text,
  email text,
  avatar text,
  stripe_customer_id text,
  country text,
  -- The first click that is known, and its link.
  click_id text,
  link_number bigint,
  sales bigint NOT NULL DEFAULT 0,
  sale_amount bigint NOT NULL DEFAULT 0,
  first_sale_at timestamptz,
  subscription_canceled_at timestamptz,
  erased_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  search_text text GENERATED ALWAYS AS (
    lower(coalesce(external_id, '') || E'\n' || coalesce(email, '') || E'\n' || coalesce(name, ''))) STORED,
  CONSTRAINT customers_external_id UNIQUE (workspace_id, external_id),
  CONSTRAINT customers_stripe_id UNIQUE (workspace_id, stripe_customer_id)
);
CREATE INDEX customers_newest ON customers (workspace_id, number DESC) WHERE erased_at IS NULL;
CREATE INDEX customers_email ON customers (workspace_id, email) WHERE email IS NOT NULL;
CREATE INDEX customers_of_link ON customers (workspace_id, link_number, number DESC) WHERE erased_at IS NULL;
CREATE INDEX customers_sale_amount ON customers (workspace_id, sale_amount DESC, number DESC) WHERE erased_at IS NULL;
CREATE INDEX customers_first_sale
  ON customers (workspace_id, (coalesce(first_sale_at, '-infinity'::timestamptz)) DESC, number DESC) WHERE erased_at IS NULL;
CREATE INDEX customers_search ON customers USING gin (workspace_id, search_text gin_trgm_ops) WHERE erased_at IS NULL;

ALTER TABLE workspaces
  ADD COLUMN currency text NOT NULL DEFAULT 'usd' CHECK (currency ~ '^[a-z]{3}$'),
  ADD COLUMN attribution_days integer NOT NULL DEFAULT 90 CHECK (attribution_days BETWEEN 1 AND 3650),
  ADD COLUMN attribution_model text NOT NULL DEFAULT 'last-click' CHECK (attribution_model IN ('first-click', 'last-click')),
  ADD COLUMN allowed_hostnames text[] NOT NULL DEFAULT '{}';

-- The truth about leads, sales and refunds. What ClickHouse has is made from it.
CREATE TABLE conversions (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('lead', 'sale', 'refund')),
  customer_id text NOT NULL,
  event_name text NOT NULL,
  -- Null when nothing could be attributed; `attribution` says why, or by which rule it was.
  link_number bigint,
  click_id text,
  attribution text NOT NULL,
  quantity integer NOT NULL DEFAULT 1,
  -- Of a refund negative; in the currency of the workspace at that time.
  amount bigint NOT NULL DEFAULT 0,
  currency text,
  original_amount bigint,
  original_currency text,
  payment_processor text,
  invoice_id text,
  refund_id text,
  -- Of a sale: the first one of its customer. Of a refund: nothing is left of its sale.
  is_first boolean NOT NULL DEFAULT false,
  is_full boolean NOT NULL DEFAULT false,
  sale_number bigint,
  -- As it was sent, so text.
  metadata text,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- How far it is on its way to ClickHouse: `batch` names the insert that carries it.
  stored_at timestamptz,
  batch uuid,
  attempts integer NOT NULL DEFAULT 0,
  due_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX conversions_lead ON conversions (workspace_id, customer_id, event_name) WHERE kind = 'lead';
CREATE UNIQUE INDEX conversions_invoice ON conversions (workspace_id, invoice_id) WHERE kind = 'sale' AND invoice_id IS NOT NULL;
CREATE UNIQUE INDEX conversions_refund ON conversions (workspace_id, refund_id) WHERE kind = 'refund' AND refund_id IS NOT NULL;
CREATE INDEX conversions_of_customer ON conversions (workspace_id, customer_id, number);
CREATE INDEX conversions_of_link ON conversions (link_number, number) WHERE link_number IS NOT NULL;
CREATE INDEX conversions_of_sale ON conversions (sale_number) WHERE kind = 'refund';
CREATE INDEX conversions_due ON conversions (due_at, number) WHERE stored_at IS NULL;

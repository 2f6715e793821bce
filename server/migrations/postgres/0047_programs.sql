-- The partner program of a workspace: at most one. Its currency never changes, because commissions and postings are in it.
CREATE TABLE programs (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  workspace_id text NOT NULL UNIQUE REFERENCES workspaces (id),
  name text NOT NULL,
  domain text,
  url text,
  currency text NOT NULL,
  min_payout_amount bigint NOT NULL DEFAULT 0 CHECK (min_payout_amount >= 0),
  payout_mode text NOT NULL DEFAULT 'external' CHECK (payout_mode IN ('internal', 'hybrid', 'external')),
  support_email text,
  terms_url text,
  terms_version integer NOT NULL DEFAULT 1,
  help_url text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE partner_groups (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  workspace_id text NOT NULL REFERENCES workspaces (id),
  name text NOT NULL,
  slug text NOT NULL,
  color text,
  is_default boolean NOT NULL DEFAULT false,
  default_links jsonb NOT NULL DEFAULT '[]',
  additional_links jsonb NOT NULL DEFAULT '[]',
  max_partner_links integer NOT NULL DEFAULT 10,
  holding_period_days integer NOT NULL DEFAULT 0 CHECK (holding_period_days IN (0, 7, 14, 30, 60, 90)),
  auto_approve boolean NOT NULL DEFAULT false,
  move_rules jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, slug)
);
CREATE UNIQUE INDEX partner_groups_default ON partner_groups (workspace_id) WHERE is_default;

-- A partner of one program: profile and enrolment in one row, so that no program reads what another entered.
CREATE TABLE partners (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  workspace_id text NOT NULL REFERENCES workspaces (id),
  group_number bigint NOT NULL REFERENCES partner_groups (number),
  is_pinned boolean NOT NULL DEFAULT false,
  status text NOT NULL CHECK (status IN
    ('pending', 'approved', 'rejected', 'invited', 'declined', 'deactivated', 'banned', 'archived')),
  -- Lower case; null after an erasure.
  email text,
  tenant_id text,
  name text NOT NULL,
  username text,
  image text,
  country text,
  description text,
  company_name text,
  website text,
  youtube text,
  twitter text,
  linkedin text,
  instagram text,
  tiktok text,
  application_id text,
  application_form jsonb,
  applied_at timestamptz,
  email_confirmed_at timestamptz,
  -- SHA-256 of the token that confirms the e-mail of an application, or accepts an invitation.
  token_hash bytea,
  token_expires_at timestamptz,
  rejection_reason text,
  rejection_note text,
  reviewed_at timestamptz,
  -- When a rejected applicant may apply again; infinity for never.
  reapply_at timestamptz,
  flagged_reason text,
  banned_at timestamptz,
  banned_reason text,
  merged_into bigint REFERENCES partners (number),
  search_text text GENERATED ALWAYS AS (lower(id || ' ' || name || ' ' || coalesce(email, '') || ' '
    || coalesce(company_name, ''))) STORED,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX partners_email ON partners (workspace_id, email) WHERE merged_into IS NULL;
CREATE UNIQUE INDEX partners_tenant ON partners (workspace_id, tenant_id) WHERE merged_into IS NULL;
CREATE UNIQUE INDEX partners_token ON partners (token_hash) WHERE token_hash IS NOT NULL;
CREATE INDEX partners_newest ON partners (workspace_id, number);
CREATE INDEX partners_group ON partners (workspace_id, group_number, number);
CREATE INDEX partners_status ON partners (workspace_id, status, number);
CREATE INDEX partners_search ON partners USING gin (workspace_id, search_text gin_trgm_ops);

-- What a partner's links brought; the worker adds to it.
CREATE TABLE partner_totals (
  partner_number bigint PRIMARY KEY REFERENCES partners (number),
  workspace_id text NOT NULL,
  clicks bigint NOT NULL DEFAULT 0,
  leads bigint NOT NULL DEFAULT 0,
  conversions bigint NOT NULL DEFAULT 0,
  sales bigint NOT NULL DEFAULT 0,
  sale_amount bigint NOT NULL DEFAULT 0,
  commissions bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE INDEX partner_totals_sale_amount ON partner_totals (workspace_id, sale_amount, partner_number);
CREATE INDEX partner_totals_commissions ON partner_totals (workspace_id, commissions, partner_number);

-- Every change of a partner's status, group or money rules: who, when, why.
CREATE TABLE partner_activities (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id text NOT NULL,
  partner_number bigint NOT NULL REFERENCES partners (number),
  kind text NOT NULL,
  actor text NOT NULL,
  detail jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX partner_activities_partner ON partner_activities (workspace_id, partner_number, number);

CREATE TABLE partner_tags (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id),
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX partner_tags_name ON partner_tags (workspace_id, lower(name));
CREATE TABLE partner_tag_assignments (
  workspace_id text NOT NULL,
  partner_number bigint NOT NULL REFERENCES partners (number),
  tag_id text NOT NULL REFERENCES partner_tags (id) ON DELETE CASCADE,
  PRIMARY KEY (partner_number, tag_id)
);
CREATE INDEX partner_tag_assignments_tag ON partner_tag_assignments (workspace_id, tag_id, partner_number);

-- One discount per group, which the group's partners may give.
CREATE TABLE discounts (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  workspace_id text NOT NULL REFERENCES workspaces (id),
  group_number bigint NOT NULL UNIQUE REFERENCES partner_groups (number) ON DELETE CASCADE,
  type text NOT NULL CHECK (type IN ('flat', 'percentage')),
  -- The smallest unit of the program's currency, or hundredths of a percent.
  amount bigint NOT NULL CHECK (amount >= 0),
  max_duration integer,
  provider text NOT NULL CHECK (provider IN ('stripe', 'shopify', 'custom')),
  coupon_id text,
  coupon_test_id text,
  description text,
  code_wins boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE discount_codes (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id),
  code text NOT NULL,
  partner_number bigint NOT NULL REFERENCES partners (number),
  link_number bigint NOT NULL,
  discount_number bigint REFERENCES discounts (number) ON DELETE SET NULL,
  disabled_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX discount_codes_code ON discount_codes (workspace_id, lower(code));
CREATE UNIQUE INDEX discount_codes_link ON discount_codes (workspace_id, link_number);
CREATE INDEX discount_codes_partner ON discount_codes (workspace_id, partner_number);

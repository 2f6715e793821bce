-- What a group, or one partner instead of its group, earns for an event. The terms are in immutable versions.
CREATE TABLE rewards (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  workspace_id text NOT NULL REFERENCES workspaces (id),
  group_number bigint REFERENCES partner_groups (number),
  partner_number bigint REFERENCES partners (number),
  event text NOT NULL CHECK (event IN ('click', 'lead', 'sale', 'referral')),
  archived_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(group_number, partner_number) = 1)
);
CREATE UNIQUE INDEX rewards_group ON rewards (group_number, event) WHERE archived_at IS NULL AND group_number IS NOT NULL;
CREATE UNIQUE INDEX rewards_partner ON rewards (partner_number, event) WHERE archived_at IS NULL AND partner_number IS NOT NULL;
CREATE INDEX rewards_workspace ON rewards (workspace_id, number);

CREATE TABLE reward_versions (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  reward_number bigint NOT NULL REFERENCES rewards (number),
  workspace_id text NOT NULL,
  version integer NOT NULL,
  terms jsonb NOT NULL,
  -- Whether the version also applies to customers that earlier versions are bound to.
  applies_to_all boolean NOT NULL DEFAULT false,
  actor text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (reward_number, version)
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % never change', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER reward_versions_immutable BEFORE UPDATE OR DELETE OR TRUNCATE ON reward_versions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Who did what: one entry per write of a person or key, in the transaction of the write. The worker seals entries: it
-- numbers those of a workspace without gaps and chains them by hash. Only sealed entries are in the indexes of readers,
-- so that writers maintain two indexes only.
CREATE TABLE audit_entries (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- `installation` for entries without a workspace, such as a sign-in.
  workspace_id text NOT NULL,
  at timestamptz NOT NULL,
  actor_kind text NOT NULL,
  actor_id text NOT NULL,
  -- The API key or session that the actor used.
  credential text,
  -- The id of the API operation, or the name of another action.
  operation text NOT NULL,
  target_kind text NOT NULL,
  target_ids text[] NOT NULL,
  request_id text,
  -- The client's network, encrypted under the key of a person: the user, or the API key itself.
  sealed_network bytea,
  person text,
  changes jsonb NOT NULL,
  sequence bigint,
  hash bytea,
  -- The id of the encryption key from which the key of the hash is derived.
  hash_key smallint,
  CHECK ((sequence IS NULL) = (hash IS NULL) AND (hash IS NULL) = (hash_key IS NULL))
);
CREATE INDEX audit_entries_unsealed ON audit_entries (number) WHERE hash IS NULL;
CREATE UNIQUE INDEX audit_entries_sequence ON audit_entries (workspace_id, sequence) WHERE hash IS NOT NULL;
CREATE INDEX audit_entries_actor ON audit_entries (workspace_id, actor_id, sequence) WHERE hash IS NOT NULL;
CREATE INDEX audit_entries_operation ON audit_entries (workspace_id, operation, sequence) WHERE hash IS NOT NULL;
CREATE INDEX audit_entries_time ON audit_entries (workspace_id, at) WHERE hash IS NOT NULL;
CREATE INDEX audit_entries_targets ON audit_entries USING gin (target_ids) WHERE hash IS NOT NULL;

-- An entry never changes, except that it is sealed once. Only the retention job deletes entries.
REVOKE UPDATE, DELETE, TRUNCATE ON audit_entries FROM PUBLIC;
CREATE TRIGGER audit_entries_immutable BEFORE UPDATE ON audit_entries FOR EACH ROW
  WHEN (OLD.hash IS NOT NULL OR
    (NEW.number, NEW.workspace_id, NEW.at, NEW.actor_kind, NEW.actor_id, NEW.credential, NEW.operation, NEW.target_kind,
      NEW.target_ids, NEW.request_id, NEW.sealed_network, NEW.person, NEW.changes) IS DISTINCT FROM
    (OLD.number, OLD.workspace_id, OLD.at, OLD.actor_kind, OLD.actor_id, OLD.credential, OLD.operation, OLD.target_kind,
      OLD.target_ids, OLD.request_id, OLD.sealed_network, OLD.person, OLD.changes))
  EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_entries_kept BEFORE DELETE ON audit_entries FOR EACH STATEMENT
  WHEN (current_setting('tributary.audit_retention', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_entries_not_emptied BEFORE TRUNCATE ON audit_entries FOR EACH STATEMENT
  EXECUTE FUNCTION refuse_change();

-- The last sealed entry of each chain, and the last that retention removed. `mac` authenticates the row.
CREATE TABLE audit_chains (
  workspace_id text PRIMARY KEY,
  sequence bigint NOT NULL,
  hash bytea NOT NULL,
  removed_sequence bigint NOT NULL DEFAULT 0,
  removed_hash bytea NOT NULL DEFAULT '',
  mac bytea NOT NULL,
  hash_key smallint NOT NULL
);

-- A key for the personal values of each person in entries. Deleting the key erases the values; the hashes still match.
CREATE TABLE audit_person_keys (
  person text PRIMARY KEY,
  sealed_key bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- How often something was recorded in an hour, for entries that strangers cause and that are therefore limited.
CREATE TABLE audit_counts (
  name text NOT NULL,
  hour timestamptz NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (name, hour)
);
CREATE INDEX audit_counts_hour ON audit_counts (hour);

-- The networks from which each key was used, as hashes.
CREATE TABLE audit_networks (
  workspace_id text NOT NULL,
  key_id text NOT NULL,
  network bytea NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (key_id, network)
);

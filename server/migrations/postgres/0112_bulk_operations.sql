-- Changes of many links in the background. `position` is the number of the last link that the operation, or its undo, has
-- handled: it moves in the transaction that changes the links, so that each link changes once.
CREATE TABLE bulk_operations (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  actor_kind text NOT NULL,
  actor_id text NOT NULL,
  credential text,
  -- The folders that are hidden from the actor or read-only; null without restrictions.
  folder_access jsonb,
  -- Who undoes the operation: kind, id and credential.
  undo_actor jsonb,
  action text NOT NULL,
  filter jsonb NOT NULL,
  -- The fields to change, without the password.
  data jsonb,
  sealed_password bytea,
  tag_ids text[],
  folder_id text,
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'done', 'failed', 'canceled', 'undoing', 'undone')),
  error text,
  attempts integer NOT NULL DEFAULT 0,
  position bigint NOT NULL DEFAULT 0,
  total integer NOT NULL,
  processed integer NOT NULL DEFAULT 0,
  changed integer NOT NULL DEFAULT 0,
  unchanged integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  undone integer NOT NULL DEFAULT 0,
  conflicts integer NOT NULL DEFAULT 0,
  stored_bytes bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  touched_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  -- When the former values were deleted.
  expired_at timestamptz
);
CREATE INDEX bulk_operations_newest ON bulk_operations (workspace_id, number DESC);
CREATE INDEX bulk_operations_open ON bulk_operations (touched_at) WHERE status IN ('running', 'undoing');
CREATE INDEX bulk_operations_unexpired ON bulk_operations (finished_at) WHERE finished_at IS NOT NULL AND expired_at IS NULL;
CREATE INDEX bulk_operations_age ON bulk_operations (created_at);

-- The links of each operation, with the values before and after, for undo. A foreign key would check each of 100,000 rows.
CREATE TABLE bulk_operation_links (
  operation_number bigint NOT NULL,
  workspace_id text NOT NULL,
  link_number bigint NOT NULL,
  before jsonb,
  after jsonb,
  problem text,
  PRIMARY KEY (operation_number, link_number)
);
CREATE INDEX bulk_operation_links_workspace ON bulk_operation_links (workspace_id);
CREATE INDEX bulk_operation_links_problems ON bulk_operation_links (operation_number, link_number)
  WHERE problem IS NOT NULL;

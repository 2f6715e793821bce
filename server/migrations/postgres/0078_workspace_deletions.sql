-- Deleted workspaces. A job erases the rows of the workspace; this row stays, so that the deletion can be watched.
CREATE TABLE workspace_deletions (
  former_id text PRIMARY KEY,
  name text NOT NULL,
  slug text NOT NULL,
  deleted_by text REFERENCES users (id) ON DELETE SET NULL,
  deleted_at timestamptz NOT NULL DEFAULT now(),
  -- The table that is being erased.
  step text NOT NULL DEFAULT '',
  erased_rows bigint NOT NULL DEFAULT 0,
  erased_at timestamptz,
  -- When events that arrived after the erasure were erased, too.
  swept_at timestamptz
);
CREATE INDEX workspace_deletions_open ON workspace_deletions (deleted_at) WHERE swept_at IS NULL;
CREATE INDEX workspace_deletions_user ON workspace_deletions (deleted_by, slug);

-- Versions of terms and postings never change, but they are erased with their workspace.
CREATE FUNCTION refuse_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM workspaces WHERE id = OLD.workspace_id AND deleted_at IS NOT NULL) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'rows of % never change', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE OR REPLACE TRIGGER reward_versions_immutable BEFORE UPDATE OR TRUNCATE ON reward_versions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER reward_versions_undeletable BEFORE DELETE ON reward_versions
  FOR EACH ROW EXECUTE FUNCTION refuse_deletion();
CREATE OR REPLACE TRIGGER ledger_postings_immutable BEFORE UPDATE OR TRUNCATE ON ledger_postings
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_postings_undeletable BEFORE DELETE ON ledger_postings
  FOR EACH ROW EXECUTE FUNCTION refuse_deletion();

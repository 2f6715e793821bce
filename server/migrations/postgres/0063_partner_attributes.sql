-- Partners whose group or tags in ClickHouse may be out of date. A worker writes their present ones there; writers only
-- append, so that none waits for another.
CREATE TABLE partner_attribute_changes (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id text NOT NULL,
  partner_id text NOT NULL
) WITH (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0);

CREATE SEQUENCE partner_attribute_versions;

CREATE FUNCTION note_changed_partner() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE changed partners;
BEGIN
  IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
  INSERT INTO partner_attribute_changes (workspace_id, partner_id) VALUES (changed.workspace_id, changed.id);
  RETURN NULL;
END $$;

CREATE FUNCTION note_changed_partner_tags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO partner_attribute_changes (workspace_id, partner_id)
  SELECT DISTINCT p.workspace_id, p.id FROM changed JOIN partners p ON p.number = changed.partner_number;
  RETURN NULL;
END $$;

CREATE TRIGGER note_added_partner AFTER INSERT OR DELETE ON partners
  FOR EACH ROW EXECUTE FUNCTION note_changed_partner();
CREATE TRIGGER note_changed_partner AFTER UPDATE OF group_number, merged_into ON partners
  FOR EACH ROW WHEN (OLD.group_number <> NEW.group_number OR OLD.merged_into IS DISTINCT FROM NEW.merged_into)
  EXECUTE FUNCTION note_changed_partner();
CREATE TRIGGER note_added_partner_tags AFTER INSERT ON partner_tag_assignments
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_partner_tags();
CREATE TRIGGER note_removed_partner_tags AFTER DELETE ON partner_tag_assignments
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_partner_tags();

INSERT INTO partner_attribute_changes (workspace_id, partner_id) SELECT workspace_id, id FROM partners ORDER BY number;

-- The key that created a key, if no user did.
ALTER TABLE tokens ADD COLUMN created_by_key text;

-- A personal key ends with its owner's membership, and does not work again if the owner is invited later.
CREATE FUNCTION revoke_personal_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tokens SET revoked_at = now()
  WHERE workspace_id = OLD.workspace_id AND user_id = OLD.user_id AND revoked_at IS NULL;
  RETURN NULL;
END $$;

CREATE TRIGGER members_revoke_personal_keys AFTER DELETE ON members
  FOR EACH ROW EXECUTE FUNCTION revoke_personal_keys();

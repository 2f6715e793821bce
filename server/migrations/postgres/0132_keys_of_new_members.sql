-- A membership begins without personal keys: a request that was authorized just before a removal may have left one.
CREATE FUNCTION revoke_earlier_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE tokens SET revoked_at = now()
  WHERE workspace_id = NEW.workspace_id AND user_id = NEW.user_id AND revoked_at IS NULL;
  RETURN NULL;
END $$;

CREATE TRIGGER members_revoke_earlier_keys AFTER INSERT ON members
  FOR EACH ROW EXECUTE FUNCTION revoke_earlier_keys();

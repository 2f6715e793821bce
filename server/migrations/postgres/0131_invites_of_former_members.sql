-- An open invite ends when its inviter may no longer give the role: owners give every role, admins all but owner.
-- Otherwise a removed owner could return by an invite to another address of theirs.
CREATE FUNCTION end_invites() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM invites
  WHERE workspace_id = OLD.workspace_id AND invited_by = OLD.user_id AND accepted_at IS NULL
    AND NOT (TG_OP = 'UPDATE' AND (NEW.role = 'owner' OR (NEW.role = 'admin' AND role <> 'owner')));
  RETURN NULL;
END $$;

CREATE TRIGGER members_end_invites AFTER DELETE OR UPDATE OF role ON members
  FOR EACH ROW EXECUTE FUNCTION end_invites();

-- Finds the invites of an inviter, whose account is deleted.
CREATE INDEX invites_inviter ON invites (invited_by) WHERE invited_by IS NOT NULL;

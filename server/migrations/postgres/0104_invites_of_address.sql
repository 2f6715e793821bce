-- Finds the invites of an address: at sign-up, and when the account is deleted.
CREATE INDEX invites_email ON invites (email);

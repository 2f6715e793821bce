-- Finds the personal keys of a user in all workspaces, to revoke or delete them.
CREATE INDEX tokens_owner ON tokens (user_id) WHERE user_id IS NOT NULL;

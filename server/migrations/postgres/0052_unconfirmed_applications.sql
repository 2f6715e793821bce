-- Finds applications whose e-mail address nobody confirmed in time.
CREATE INDEX partners_token_expiry ON partners (token_expires_at) WHERE token_hash IS NOT NULL;
-- Finds the partners that were merged into a partner.
CREATE INDEX partners_merged ON partners (workspace_id, merged_into) WHERE merged_into IS NOT NULL;

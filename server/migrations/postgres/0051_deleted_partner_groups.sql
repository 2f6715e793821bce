-- Rewards and commissions refer to a group for ever, so a deleted group keeps its row; its slug is free again.
ALTER TABLE partner_groups ADD COLUMN deleted_at timestamptz;
ALTER TABLE partner_groups DROP CONSTRAINT partner_groups_workspace_id_slug_key;
CREATE UNIQUE INDEX partner_groups_slug ON partner_groups (workspace_id, slug) WHERE deleted_at IS NULL;

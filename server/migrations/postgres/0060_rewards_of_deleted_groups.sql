-- Rewards of a group are archived with it.
UPDATE rewards SET archived_at = g.deleted_at FROM partner_groups g
  WHERE g.number = rewards.group_number AND g.deleted_at IS NOT NULL AND rewards.archived_at IS NULL;

-- When the settings of a deleted link were erased. Until then, it can be restored.
ALTER TABLE links ADD COLUMN erased_at timestamptz;

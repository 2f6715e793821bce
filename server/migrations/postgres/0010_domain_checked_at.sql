ALTER TABLE domains ADD COLUMN checked_at timestamptz;

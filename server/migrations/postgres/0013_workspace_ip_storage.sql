-- How much of a visitor's address a workspace stores; null is what the installation does (IP_STORAGE).
ALTER TABLE workspaces ADD COLUMN ip_storage text CHECK (ip_storage IN ('full', 'truncated', 'none', 'eu-truncated'));

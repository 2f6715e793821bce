-- Stands for a foreign key, which would slow down each commission. The erasure of a workspace reads it.
COMMENT ON COLUMN commission_keys.commission_number IS 'references commissions (number)';

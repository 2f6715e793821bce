-- Contract: every version reads these columns through sum() and toString(), which take the wider type as well.
-- Sums of amounts wrap around silently at 64 bits.
ALTER TABLE {table:workspace_counts} MODIFY COLUMN sale_amount Int128;

{distributed-alter:workspace_counts:MODIFY COLUMN sale_amount Int128};

ALTER TABLE {table:link_counts} MODIFY COLUMN sale_amount Int128;

{distributed-alter:link_counts:MODIFY COLUMN sale_amount Int128};

ALTER TABLE {table:dimension_counts} MODIFY COLUMN sale_amount Int128;

{distributed-alter:dimension_counts:MODIFY COLUMN sale_amount Int128};

-- Contract: every version reads this column with Number(), which takes the text of a numeric as well.
-- The sum of a link's sales has no largest value, so that no workspace can make a shared batch overflow.
ALTER TABLE link_counters ALTER COLUMN sale_amount TYPE numeric;

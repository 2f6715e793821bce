CREATE INDEX discount_codes_discount ON discount_codes (workspace_id, discount_number, id)
  WHERE discount_number IS NOT NULL;
CREATE INDEX discount_codes_newest ON discount_codes (workspace_id, id);

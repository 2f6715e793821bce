-- The discount code of a deferred lead, to which the customer's first lead or sale belongs.
ALTER TABLE customers ADD COLUMN deferred_code text;

-- Finds what counts against the caps of a partner and of its customers, for a merge.
CREATE INDEX commission_spending_scope ON commission_spending (scope text_pattern_ops);

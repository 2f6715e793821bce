-- How far days of clicks are published. `target` names the run that is under way: the last day it closes, the moment up to
-- which stored clicks belong to it, and the last link that is done.
CREATE TABLE click_days (
  closed_day date NOT NULL,
  stored_until timestamptz NOT NULL,
  target jsonb,
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only)
);

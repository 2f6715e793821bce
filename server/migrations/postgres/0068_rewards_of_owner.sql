-- Finds all rewards of a group or partner, also deleted ones: past events have the terms of their time.
CREATE INDEX rewards_of_group ON rewards (group_number, event) WHERE group_number IS NOT NULL;
CREATE INDEX rewards_of_partner ON rewards (partner_number, event) WHERE partner_number IS NOT NULL;

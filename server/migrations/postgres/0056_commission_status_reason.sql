-- Why a commission has its status, when the partner's status is the reason: an unban restores what the ban canceled.
ALTER TABLE commissions ADD COLUMN status_reason text;
CREATE INDEX commissions_banned ON commissions (partner_number) WHERE status_reason = 'ban';
-- Commissions of a partner that a ban or a merge changes.
CREATE INDEX commissions_open ON commissions (partner_number) WHERE status IN ('pending', 'hold', 'processed');

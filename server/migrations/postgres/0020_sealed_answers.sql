-- Stored answers are encrypted: `sealed` replaces `response`, which the worker empties. `mentions` has a keyed hash of
-- every text in the answer, so that those which name an erased person are found without opening any.
ALTER TABLE idempotency_keys
  ADD COLUMN sealed bytea,
  ADD COLUMN mentions bigint[];

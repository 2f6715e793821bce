-- Work of PostgreSQL that an engine refused: a lead, sale or refund, or a message of the outbox. The rest of its batch
-- was stored without it; it waits until an operator retries or drops it. Messages of the log are in DEAD_LETTERS.
CREATE TABLE dead_letters (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Not a reference: a message can outlive its workspace, and must still leave the outbox.
  workspace_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('conversion', 'outbox')),
  -- The conversion's id, or the number that the message had in the outbox.
  reference text NOT NULL,
  reason text NOT NULL,
  -- The message of the outbox; a conversion stays in its own table.
  body jsonb,
  attempts integer NOT NULL DEFAULT 1,
  first_seen_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  -- Set while a retry is under way; the letter is deleted when that succeeds.
  retried_at timestamptz,
  UNIQUE (kind, reference)
);

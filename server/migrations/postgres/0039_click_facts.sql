-- The facts of the click that a lead or sale belongs to, as JSON: place, device, referrer. The worker copies them from
-- ClickHouse once. `click_facts_at` is when that was settled; the facts stay null when the click never arrived or the
-- customer was erased. Rows that were stored before this migration have neither.
ALTER TABLE conversions
  ADD COLUMN click_facts text,
  ADD COLUMN click_facts_at timestamptz,
  ADD COLUMN partner_id text;
CREATE INDEX conversions_without_click_facts ON conversions (due_at, number)
  WHERE stored_at IS NULL AND click_facts_at IS NULL;

-- What a delivery waits for before it can be due; its event has no body until then.
ALTER TABLE webhook_deliveries ADD COLUMN waits_for text CHECK (waits_for IN ('click'));

-- Which domain events a subscriber has handled, for those whose own tables have no unique key for it.
CREATE TABLE handled_events (
  subscriber text NOT NULL,
  event_id text NOT NULL,
  handled_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (subscriber, event_id)
);
CREATE INDEX handled_events_age ON handled_events (handled_at);

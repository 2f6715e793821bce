-- Which notifications a member gets by e-mail; without a row, the default of the member's role applies.
CREATE TABLE notification_settings (
  workspace_id text NOT NULL,
  user_id text NOT NULL,
  kind text NOT NULL,
  is_on boolean NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, user_id, kind),
  FOREIGN KEY (workspace_id, user_id) REFERENCES members ON DELETE CASCADE
);
CREATE INDEX notification_settings_kind ON notification_settings (workspace_id, kind);

-- A notification for one person. The unique key makes repeated reports of one occasion one e-mail.
CREATE TABLE notifications (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind text NOT NULL,
  -- Id of the domain, webhook or key; empty for the whole workspace.
  subject text NOT NULL,
  -- What distinguishes two notifications about one subject, such as the day.
  occasion text NOT NULL,
  facts jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'waiting'
    CHECK (status IN ('waiting', 'sending', 'sent', 'unknown', 'failed', 'skipped')),
  reason text,
  -- A waiting notification is sent from this time on; a worker that composes its e-mail moves it forward.
  due_at timestamptz NOT NULL,
  attempts smallint NOT NULL DEFAULT 0,
  -- One e-mail may have several notifications.
  email_id text,
  attempted_at timestamptz,
  finished_at timestamptz,
  created_at timestamptz NOT NULL,
  UNIQUE (workspace_id, user_id, kind, subject, occasion)
);
CREATE INDEX notifications_due ON notifications (due_at) WHERE status = 'waiting';
CREATE INDEX notifications_sending ON notifications (attempted_at) WHERE status = 'sending';
CREATE INDEX notifications_finished ON notifications (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX notifications_of_user ON notifications (user_id, attempted_at);
CREATE INDEX notifications_of_workspace ON notifications (workspace_id, attempted_at);

-- When notifications that follow the clock are due; only workspaces whose members chose some have rows.
CREATE TABLE notification_schedules (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  kind text NOT NULL,
  due_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, kind)
);
CREATE INDEX notification_schedules_due ON notification_schedules (due_at);

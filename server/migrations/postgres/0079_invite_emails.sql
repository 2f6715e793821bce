-- Sent invites of the last day, to limit them per workspace and recipient.
CREATE TABLE invite_emails (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  invite_id text NOT NULL,
  email text NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX invite_emails_workspace ON invite_emails (workspace_id, at);
CREATE INDEX invite_emails_recipient ON invite_emails (email, at);
CREATE INDEX invite_emails_age ON invite_emails (at);

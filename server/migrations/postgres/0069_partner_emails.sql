-- E-mails to applicants and invited partners, by day: to one address, and with an empty recipient to all of a workspace.
CREATE TABLE partner_email_counts (
  workspace_id text NOT NULL REFERENCES workspaces (id),
  day date NOT NULL,
  -- SHA-256 of the address.
  recipient bytea NOT NULL,
  emails integer NOT NULL,
  PRIMARY KEY (workspace_id, day, recipient)
);
CREATE INDEX partner_email_counts_day ON partner_email_counts (day);

-- Counts applications whose e-mail address nobody confirmed.
CREATE INDEX partners_unconfirmed ON partners (workspace_id) WHERE status = 'pending' AND email_confirmed_at IS NULL;

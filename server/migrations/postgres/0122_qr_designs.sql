-- The look of QR codes: of a link, of a domain's links, or of all links of the workspace.
CREATE TABLE qr_designs (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  link_number bigint REFERENCES links (number) ON DELETE CASCADE,
  domain_id text REFERENCES domains (id) ON DELETE CASCADE,
  design jsonb NOT NULL,
  -- Whether a decoder could read a code of this design.
  scans boolean NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK (link_number IS NULL OR domain_id IS NULL)
);
CREATE UNIQUE INDEX qr_designs_workspace ON qr_designs (workspace_id) WHERE link_number IS NULL AND domain_id IS NULL;
CREATE UNIQUE INDEX qr_designs_link ON qr_designs (link_number) WHERE link_number IS NOT NULL;
CREATE UNIQUE INDEX qr_designs_domain ON qr_designs (domain_id) WHERE domain_id IS NOT NULL;

-- When the stream was made in which `sequence` counts: one that was lost and made anew starts again at 1.
ALTER TABLE ingest_cursors ADD COLUMN stream text NOT NULL DEFAULT '';

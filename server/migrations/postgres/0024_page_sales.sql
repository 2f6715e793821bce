-- A sale that a publishable key reported: its invoice never stands in the way of the same invoice from the server.
ALTER TABLE conversions ADD COLUMN from_page boolean NOT NULL DEFAULT false;

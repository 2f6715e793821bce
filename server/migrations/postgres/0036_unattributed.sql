-- Leads and sales that belong to no link and are not in ClickHouse yet; `batch` is set when they are.
CREATE INDEX conversions_unattributed ON conversions (due_at, number) WHERE link_number IS NULL AND batch IS NULL;

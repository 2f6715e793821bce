-- Which values of a row the daily rollup counts only in sum, because its workspace had too many different ones that day.
-- One bit for each of: city, browser, os, referer, utm_source, utm_medium, utm_campaign, utm_term, utm_content.
ALTER TABLE {table:click_events} ADD COLUMN IF NOT EXISTS folded UInt16 DEFAULT 0;

{distributed-alter:click_events:ADD COLUMN IF NOT EXISTS folded UInt16 DEFAULT 0};

ALTER TABLE {table:lead_events} ADD COLUMN IF NOT EXISTS folded UInt16 DEFAULT 0;

{distributed-alter:lead_events:ADD COLUMN IF NOT EXISTS folded UInt16 DEFAULT 0};

ALTER TABLE {table:sale_events} ADD COLUMN IF NOT EXISTS folded UInt16 DEFAULT 0;

{distributed-alter:sale_events:ADD COLUMN IF NOT EXISTS folded UInt16 DEFAULT 0};

ALTER TABLE {table:click_events_staged} ADD COLUMN IF NOT EXISTS folded UInt16 DEFAULT 0;

{distributed-alter:click_events_staged:ADD COLUMN IF NOT EXISTS folded UInt16 DEFAULT 0};

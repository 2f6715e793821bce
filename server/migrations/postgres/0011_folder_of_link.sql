-- Setting it to null for every link of a large folder inside the request that deletes it took minutes; the worker does
-- it in small steps.
ALTER TABLE links DROP CONSTRAINT links_folder;

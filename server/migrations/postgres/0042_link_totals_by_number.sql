-- The triggers of 0041 joined all links with the changed tags; now they look up each link by its number, and return at
-- once when a statement changed no row.
CREATE OR REPLACE FUNCTION count_new_link_tags() RETURNS trigger LANGUAGE plpgsql
  SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM added) THEN RETURN NULL; END IF;
  INSERT INTO link_total_changes (workspace_id, tag_id, domain, folder_id, user_id, archived, change)
  SELECT l.workspace_id, counted.tag_id, l.domain, coalesce(l.folder_id, ''), coalesce(l.user_id, ''), l.archived,
    count(*)
  FROM (
    SELECT link_number, tag_id FROM added UNION ALL
    -- Links without a tag until now.
    SELECT link_number, '' FROM added GROUP BY link_number
    HAVING count(*) = (SELECT count(*) FROM link_tags t WHERE t.link_number = added.link_number)
  ) counted JOIN links l ON l.number = counted.link_number
  WHERE l.deleted_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION count_removed_link_tags() RETURNS trigger LANGUAGE plpgsql
  SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM removed) THEN RETURN NULL; END IF;
  INSERT INTO link_total_changes (workspace_id, tag_id, domain, folder_id, user_id, archived, change)
  SELECT l.workspace_id, counted.tag_id, l.domain, coalesce(l.folder_id, ''), coalesce(l.user_id, ''), l.archived,
    -count(*)
  FROM (
    SELECT link_number, tag_id FROM removed UNION ALL
    -- Links without a tag from now on.
    SELECT DISTINCT link_number, '' FROM removed
    WHERE NOT EXISTS (SELECT FROM link_tags t WHERE t.link_number = removed.link_number)
  ) counted JOIN links l ON l.number = counted.link_number
  WHERE l.deleted_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6;
  RETURN NULL;
END $$;

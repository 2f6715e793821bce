-- One statement may move many links with many tags: count its changes together, not those of each link.
CREATE FUNCTION count_changed_links() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT number, domain, folder_id, user_id, archived, deleted_at IS NULL FROM former
    EXCEPT SELECT number, domain, folder_id, user_id, archived, deleted_at IS NULL FROM present
  ) THEN RETURN NULL; END IF;
  -- As in count_changed_link: while a tag is deleted, this waits, so that the tags of a link stay as they are read here.
  PERFORM pg_advisory_xact_lock_shared(hashtextextended(workspace_id, 7240822))
  FROM (SELECT DISTINCT workspace_id FROM former ORDER BY 1) AS mine;
  INSERT INTO link_total_changes (workspace_id, tag_id, domain, folder_id, user_id, archived, change)
  SELECT workspace_id, counted.tag_id, domain, coalesce(folder_id, ''), coalesce(user_id, ''), archived, sum(change)
  FROM (
    SELECT number, workspace_id, domain, folder_id, user_id, archived, -1 AS change FROM former WHERE deleted_at IS NULL
    UNION ALL
    SELECT number, workspace_id, domain, folder_id, user_id, archived, 1 FROM present WHERE deleted_at IS NULL
  ) AS moved CROSS JOIN LATERAL (
    SELECT '*' AS tag_id UNION ALL SELECT t.tag_id FROM link_tags t WHERE t.link_number = moved.number
    UNION ALL SELECT '' WHERE EXISTS (SELECT FROM link_tags t WHERE t.link_number = moved.number)
  ) AS counted
  GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(change) <> 0;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER links_counted_changed AFTER UPDATE ON links
  REFERENCING OLD TABLE AS former NEW TABLE AS present FOR EACH STATEMENT EXECUTE FUNCTION count_changed_links();

-- The number of links by domain, folder, user, archived and tag, so that no request counts a million rows. `tag_id` is
-- '*' for all links, '' for links with a tag, else a tag's id; `folder_id` and `user_id` are '' for none.
CREATE TABLE link_totals (
  workspace_id text NOT NULL,
  tag_id text NOT NULL,
  domain text NOT NULL,
  folder_id text NOT NULL,
  user_id text NOT NULL,
  archived boolean NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (workspace_id, tag_id, domain, folder_id, user_id, archived)
) WITH (fillfactor = 70);

-- Changes that a worker has not added to `link_totals` yet; the sum of both tables counts. Writers only append, so that
-- none waits for another.
CREATE TABLE link_total_changes (
  number bigint GENERATED ALWAYS AS IDENTITY,
  workspace_id text NOT NULL,
  tag_id text NOT NULL,
  domain text NOT NULL,
  folder_id text NOT NULL,
  user_id text NOT NULL,
  archived boolean NOT NULL,
  change bigint NOT NULL,
  PRIMARY KEY (workspace_id, tag_id, number)
) WITH (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0);

CREATE FUNCTION count_new_links() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO link_total_changes (workspace_id, tag_id, domain, folder_id, user_id, archived, change)
  SELECT workspace_id, '*', domain, coalesce(folder_id, ''), coalesce(user_id, ''), archived, count(*)
  FROM added WHERE deleted_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6;
  RETURN NULL;
END $$;

-- The lock, exclusive while a tag is deleted (locks.linkTags), keeps the tags of a link as they are read here.
CREATE FUNCTION count_changed_link() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended(OLD.workspace_id, 7240822));
  INSERT INTO link_total_changes (workspace_id, tag_id, domain, folder_id, user_id, archived, change)
  SELECT OLD.workspace_id, counted.tag_id, OLD.domain, coalesce(OLD.folder_id, ''), coalesce(OLD.user_id, ''),
    OLD.archived, -1
  FROM (
    SELECT '*' AS tag_id UNION ALL SELECT t.tag_id FROM link_tags t WHERE t.link_number = OLD.number
    UNION ALL SELECT '' WHERE EXISTS (SELECT FROM link_tags t WHERE t.link_number = OLD.number)
  ) counted WHERE OLD.deleted_at IS NULL;
  IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
  INSERT INTO link_total_changes (workspace_id, tag_id, domain, folder_id, user_id, archived, change)
  SELECT NEW.workspace_id, counted.tag_id, NEW.domain, coalesce(NEW.folder_id, ''), coalesce(NEW.user_id, ''),
    NEW.archived, 1
  FROM (
    SELECT '*' AS tag_id UNION ALL SELECT t.tag_id FROM link_tags t WHERE t.link_number = NEW.number
    UNION ALL SELECT '' WHERE EXISTS (SELECT FROM link_tags t WHERE t.link_number = NEW.number)
  ) counted WHERE NEW.deleted_at IS NULL;
  RETURN NEW;
END $$;

CREATE FUNCTION count_new_link_tags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
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

CREATE FUNCTION count_removed_link_tags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
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

CREATE TRIGGER links_counted_new AFTER INSERT ON links
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_new_links();
CREATE TRIGGER links_counted_changed AFTER UPDATE ON links FOR EACH ROW
  WHEN ((OLD.domain, OLD.folder_id, OLD.user_id, OLD.archived, OLD.deleted_at IS NULL)
    IS DISTINCT FROM (NEW.domain, NEW.folder_id, NEW.user_id, NEW.archived, NEW.deleted_at IS NULL))
  EXECUTE FUNCTION count_changed_link();
-- Before, because the link's tags are deleted with it.
CREATE TRIGGER links_counted_removed BEFORE DELETE ON links FOR EACH ROW EXECUTE FUNCTION count_changed_link();
CREATE TRIGGER link_tags_counted_new AFTER INSERT ON link_tags
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_new_link_tags();
CREATE TRIGGER link_tags_counted_removed AFTER DELETE ON link_tags
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_removed_link_tags();

-- The triggers above block other writers until this transaction ends, so that no link is counted twice or not at all.
INSERT INTO link_totals (workspace_id, tag_id, domain, folder_id, user_id, archived, count)
  SELECT workspace_id, '*', domain, coalesce(folder_id, ''), coalesce(user_id, ''), archived, count(*)
  FROM links WHERE deleted_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6;
INSERT INTO link_totals (workspace_id, tag_id, domain, folder_id, user_id, archived, count)
  SELECT l.workspace_id, counted.tag_id, l.domain, coalesce(l.folder_id, ''), coalesce(l.user_id, ''), l.archived,
    count(*)
  FROM (SELECT link_number, tag_id FROM link_tags UNION ALL SELECT DISTINCT link_number, '' FROM link_tags) counted
  JOIN links l ON l.number = counted.link_number
  WHERE l.deleted_at IS NULL GROUP BY 1, 2, 3, 4, 5, 6;

-- Every statement that changes tasks counts one more revision of their owners' lists. Rows of several
-- owners are taken in one order, so that two statements never wait for each other.
CREATE FUNCTION count_task_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO task_lists (user_id, revision)
	SELECT DISTINCT user_id, 1 FROM changed ORDER BY user_id
	ON CONFLICT (user_id) DO UPDATE SET revision = task_lists.revision + 1;
	RETURN NULL;
END;
$$;--> statement-breakpoint
CREATE TRIGGER tasks_inserted AFTER INSERT ON tasks
	REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_task_changes();--> statement-breakpoint
CREATE TRIGGER tasks_updated AFTER UPDATE ON tasks
	REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_task_changes();--> statement-breakpoint
CREATE TRIGGER tasks_deleted AFTER DELETE ON tasks
	REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_task_changes();

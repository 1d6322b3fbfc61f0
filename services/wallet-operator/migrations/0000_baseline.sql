-- Trigram index, for the search of players. The owner of a database may create this one.
create schema if not exists extensions;
create extension if not exists pg_trgm with schema extensions;
--> statement-breakpoint
CREATE TABLE "adjustments" (
	"player_id" text NOT NULL,
	"transaction_id" text NOT NULL,
	"amount" bigint NOT NULL,
	"reason" text NOT NULL,
	"note" text NOT NULL,
	"requested_by" text NOT NULL,
	"approved_by" text,
	"approved_at" timestamp (3) with time zone,
	"moved_at" timestamp (3) with time zone,
	CONSTRAINT "adjustments_player_id_transaction_id_pk" PRIMARY KEY("player_id","transaction_id")
);
--> statement-breakpoint
CREATE TABLE "audit_events" (
	"event_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"kind" text NOT NULL,
	"player_id" text,
	"details" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "entries" (
	"player_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"operation" text NOT NULL,
	"transaction_id" text NOT NULL,
	"round_id" text,
	"game_code" text,
	"amount" bigint NOT NULL,
	"balance_after" bigint NOT NULL,
	"reverses" text,
	"round_closed" boolean,
	"at" timestamp (3) with time zone NOT NULL,
	"id_space" text NOT NULL,
	"named_round_id" text,
	"metadata" text,
	CONSTRAINT "entries_player_id_seq_pk" PRIMARY KEY("player_id","seq"),
	CONSTRAINT "entries_balance_after" CHECK ("entries"."balance_after" >= 0),
	CONSTRAINT "entries_amount" CHECK (case "entries"."operation"
        when 'debit' then "entries"."amount" <= 0
        when 'withdrawal' then "entries"."amount" < 0
        when 'adjustment' then "entries"."amount" <> 0
        when 'tombstone' then "entries"."amount" = 0
        else "entries"."amount" >= 0 end)
);
--> statement-breakpoint
CREATE TABLE "games" (
	"game_code" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"enabled" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"disabled_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"owner" text NOT NULL,
	"key" text NOT NULL,
	"request_hash" text NOT NULL,
	"answer" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_owner_key_pk" PRIMARY KEY("owner","key")
);
--> statement-breakpoint
CREATE TABLE "launches" (
	"launch_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"player_id" text NOT NULL,
	"game_code" text NOT NULL,
	"launched_by" text NOT NULL,
	"outcome" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ledger_settings" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "players" (
	"player_id" text PRIMARY KEY NOT NULL,
	"currency" text NOT NULL,
	"balance" bigint DEFAULT 0 NOT NULL,
	"seq" bigint DEFAULT 0 NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"excluded_until" timestamp with time zone,
	"name" text,
	"country_code" text,
	"language_code" text,
	"birth_date" date,
	"registration_date" date,
	"address" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"time_zone" text,
	"month_since" timestamp (3) with time zone,
	"decided_at" timestamp (3) with time zone,
	"wagered" bigint,
	"lost" bigint,
	"wagered_cap" bigint,
	"lost_cap" bigint,
	"limits_until" timestamp (3) with time zone,
	CONSTRAINT "players_balance" CHECK ("players"."balance" >= 0),
	CONSTRAINT "players_seq" CHECK ("players"."seq" >= 0)
);
--> statement-breakpoint
CREATE TABLE "rounds" (
	"player_id" text NOT NULL,
	"round_id" text NOT NULL,
	"game_code" text NOT NULL,
	"opened_at" timestamp (3) with time zone NOT NULL,
	"closed_at" timestamp (3) with time zone,
	"opened_seq" bigint DEFAULT 1 NOT NULL,
	"promotional" boolean DEFAULT false NOT NULL,
	CONSTRAINT "rounds_player_id_round_id_pk" PRIMARY KEY("player_id","round_id")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"player_id" text NOT NULL,
	"game_code" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"session_id" uuid DEFAULT uuidv7() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "limit_changes" (
	"change_id" uuid DEFAULT uuidv7() NOT NULL,
	"player_id" text NOT NULL,
	"kind" text NOT NULL,
	"period" text NOT NULL,
	"set_by" text NOT NULL,
	"value" bigint,
	"changed_at" timestamp (3) with time zone NOT NULL,
	"effective_at" timestamp (3) with time zone NOT NULL,
	"cancelled_at" timestamp (3) with time zone,
	"changed_by" text NOT NULL,
	CONSTRAINT "limit_changes_player_id_change_id_pk" PRIMARY KEY("player_id","change_id")
);
--> statement-breakpoint
CREATE TABLE "limit_windows" (
	"player_id" text NOT NULL,
	"period" text NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"after_seq" bigint NOT NULL,
	"wagered" bigint NOT NULL,
	"lost" bigint NOT NULL,
	CONSTRAINT "limit_windows_player_id_period_pk" PRIMARY KEY("player_id","period")
);
--> statement-breakpoint
CREATE TABLE "reconciliation_differences" (
	"reconciliation_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"kind" text NOT NULL,
	"player_id" text NOT NULL,
	"transaction_id" text NOT NULL,
	"there" jsonb,
	"here" jsonb,
	"repair" text NOT NULL,
	"state" text DEFAULT 'open' NOT NULL,
	"status" text,
	"reason" text,
	"dry_run_id" uuid,
	"amount" bigint,
	"repaired_at" timestamp (3) with time zone,
	"repaired_by" text,
	"repair_transaction_id" text,
	CONSTRAINT "reconciliation_differences_reconciliation_id_number_pk" PRIMARY KEY("reconciliation_id","number")
);
--> statement-breakpoint
CREATE TABLE "reconciliation_dry_runs" (
	"dry_run_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"reconciliation_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by" text NOT NULL,
	"repairs" jsonb NOT NULL,
	"approved_by" text,
	"approved_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "reconciliation_lines" (
	"reconciliation_id" uuid NOT NULL,
	"line" integer NOT NULL,
	"transaction_id" text NOT NULL,
	"id_space" text NOT NULL,
	"player_id" text NOT NULL,
	"operation" text NOT NULL,
	"amount" bigint,
	"currency" text,
	"round_id" text,
	"game_code" text,
	"round_closed" boolean,
	"reverses" text,
	"at" timestamp (3) with time zone,
	"is_repeated" boolean DEFAULT false NOT NULL,
	CONSTRAINT "reconciliation_lines_reconciliation_id_line_pk" PRIMARY KEY("reconciliation_id","line")
);
--> statement-breakpoint
CREATE TABLE "reconciliations" (
	"reconciliation_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"created_by" text NOT NULL,
	"period_from" timestamp (3) with time zone NOT NULL,
	"period_to" timestamp (3) with time zone NOT NULL,
	"tolerance_s" integer NOT NULL,
	"step" text DEFAULT 'receiving' NOT NULL,
	"failure" text,
	"touched_at" timestamp (3) with time zone NOT NULL,
	"lines" integer DEFAULT 0 NOT NULL,
	"fields" jsonb,
	"line_done" integer DEFAULT 0 NOT NULL,
	"entries_done" timestamp (3) with time zone,
	"differences" integer DEFAULT 0 NOT NULL,
	"equal_amounts" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"failed_attempts" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "refusals" (
	"refusal_id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"callback" text NOT NULL,
	"player_id" text,
	"round_id" text,
	"transaction_id" text,
	"status" text NOT NULL,
	"cause" text NOT NULL,
	"amount" bigint,
	"balance" bigint,
	"limit" jsonb,
	"field" text
) PARTITION BY RANGE ("refusal_id");
--> statement-breakpoint
CREATE TABLE "sealed_ranges" (
	"number" bigint PRIMARY KEY NOT NULL,
	"entries" integer NOT NULL,
	"total" bigint NOT NULL,
	"previous" text NOT NULL,
	"root" text NOT NULL,
	"sealed_at" timestamp (3) with time zone NOT NULL,
	"key_id" text NOT NULL,
	"signature" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sealed_runs" (
	"number" bigint NOT NULL,
	"player_id" text NOT NULL,
	"first_seq" bigint NOT NULL,
	"last_seq" bigint NOT NULL,
	CONSTRAINT "sealed_runs_number_player_id_pk" PRIMARY KEY("number","player_id")
);
--> statement-breakpoint
CREATE TABLE "sealing_keys" (
	"key_id" text PRIMARY KEY NOT NULL,
	"x" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "daily_sums" (
	"day" date NOT NULL,
	"currency" text NOT NULL,
	"game_code" text NOT NULL,
	"entries" integer NOT NULL,
	"bets" numeric NOT NULL,
	"wins" numeric NOT NULL,
	"promotional" numeric NOT NULL,
	"reversals" numeric NOT NULL,
	"deposits" numeric NOT NULL,
	"withdrawals" numeric NOT NULL,
	"adjustments" numeric NOT NULL,
	"closing" numeric NOT NULL,
	CONSTRAINT "daily_sums_day_currency_game_code_pk" PRIMARY KEY("day","currency","game_code")
);
--> statement-breakpoint
CREATE TABLE "ledger_checks" (
	"id" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"proved_at" timestamp (3) with time zone,
	"walk_begun_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"walked_number" bigint DEFAULT 0 NOT NULL,
	"walked_day" date,
	"walked_at" timestamp (3) with time zone,
	"violations" jsonb DEFAULT '[]'::jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sealed_head" (
	"id" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"number" bigint NOT NULL,
	"hash" text NOT NULL
);
--> statement-breakpoint
CREATE INDEX "audit_events_player" ON "audit_events" USING btree ("player_id","event_id");--> statement-breakpoint
CREATE INDEX "adjustments_moved" ON "adjustments" USING btree ("moved_at");--> statement-breakpoint
CREATE INDEX "audit_events_kind" ON "audit_events" USING btree ("kind","event_id");--> statement-breakpoint
CREATE UNIQUE INDEX "entries_transaction" ON "entries" USING btree ("transaction_id","id_space");--> statement-breakpoint
CREATE UNIQUE INDEX "entries_reversal" ON "entries" USING btree ("reverses","id_space") WHERE "entries"."operation" = 'rollback' and "entries"."amount" > 0;--> statement-breakpoint
CREATE INDEX "entries_deposits" ON "entries" USING btree ("player_id","at") WHERE "entries"."operation" = 'deposit';--> statement-breakpoint
CREATE INDEX "entries_at" ON "entries" USING brin ("at") WITH (autosummarize=true);--> statement-breakpoint
CREATE INDEX "idempotency_keys_by_age" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "launches_player" ON "launches" USING btree ("player_id","launch_id");--> statement-breakpoint
CREATE INDEX "launches_game" ON "launches" USING btree ("game_code","launch_id");--> statement-breakpoint
CREATE INDEX "launches_outcome" ON "launches" USING btree ("outcome","launch_id");--> statement-breakpoint
CREATE INDEX "launches_game_outcome" ON "launches" USING btree ("game_code","outcome","launch_id");--> statement-breakpoint
CREATE INDEX "players_created" ON "players" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "players_currency" ON "players" USING btree ("currency","created_at");--> statement-breakpoint
CREATE INDEX "players_disabled" ON "players" USING btree ("created_at") WHERE "players"."status" = 'disabled';--> statement-breakpoint
CREATE INDEX "players_excluded" ON "players" USING btree ("created_at") WHERE "players"."excluded_until" is not null;--> statement-breakpoint
CREATE INDEX "players_search" ON "players" USING gin ((casefold((player_id || chr(31) || coalesce(name, '')) collate "pg_unicode_fast")) gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "rounds_open" ON "rounds" USING btree ("opened_at") WHERE "rounds"."closed_at" is null;--> statement-breakpoint
CREATE INDEX "rounds_promotional" ON "rounds" USING btree ("opened_at") WHERE "rounds"."promotional";--> statement-breakpoint
CREATE INDEX "rounds_id" ON "rounds" USING brin (round_id text_bloom_ops(n_distinct_per_range = 3000)) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE INDEX "sessions_created" ON "sessions" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "sessions_player" ON "sessions" USING btree ("player_id","session_id");--> statement-breakpoint
CREATE INDEX "reconciliation_differences_repair" ON "reconciliation_differences" USING btree ("repair_transaction_id") WHERE "reconciliation_differences"."repair_transaction_id" is not null;--> statement-breakpoint
CREATE INDEX "reconciliation_differences_missing" ON "reconciliation_differences" USING btree ("player_id") WHERE "reconciliation_differences"."kind" = 'missing_here' and "reconciliation_differences"."state" <> 'applied';--> statement-breakpoint
CREATE UNIQUE INDEX "reconciliation_lines_transaction" ON "reconciliation_lines" USING btree ("reconciliation_id","transaction_id","id_space") WHERE not "reconciliation_lines"."is_repeated";--> statement-breakpoint
CREATE INDEX "reconciliation_lines_reverses" ON "reconciliation_lines" USING btree ("reconciliation_id","reverses","id_space") WHERE "reconciliation_lines"."reverses" is not null;--> statement-breakpoint
CREATE INDEX "refusals_player" ON "refusals" USING btree ("player_id","refusal_id");--> statement-breakpoint
CREATE INDEX "refusals_round" ON "refusals" USING btree ("round_id","refusal_id");--> statement-breakpoint
CREATE INDEX "refusals_transaction" ON "refusals" USING btree ("transaction_id","refusal_id");--> statement-breakpoint
CREATE INDEX "refusals_cause" ON "refusals" USING btree ("cause","refusal_id");--> statement-breakpoint
CREATE UNIQUE INDEX "sealed_runs_entry" ON "sealed_runs" USING btree ("player_id","last_seq");--> statement-breakpoint
-- The ledger with its checkpoints, the audit trail, the changes of limits and the settings that the ledger depends on are
-- append-only.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % can be added, never changed or removed', tg_table_name USING ERRCODE = 'restrict_violation';
END $$;--> statement-breakpoint
CREATE TRIGGER entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "entries"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();--> statement-breakpoint
CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_events"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();--> statement-breakpoint
CREATE TRIGGER limit_changes_append_only BEFORE DELETE OR TRUNCATE ON "limit_changes"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();--> statement-breakpoint
-- A pending change can be cancelled, once.
CREATE TRIGGER limit_changes_cancelled BEFORE UPDATE ON "limit_changes" FOR EACH ROW
  WHEN (old.cancelled_at IS NOT NULL OR new.cancelled_at IS NULL
    OR (to_jsonb(new) - 'cancelled_at') IS DISTINCT FROM (to_jsonb(old) - 'cancelled_at'))
  EXECUTE FUNCTION refuse_change();--> statement-breakpoint
CREATE TRIGGER ledger_settings_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_settings"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();--> statement-breakpoint
CREATE TRIGGER sealed_ranges_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "sealed_ranges"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();--> statement-breakpoint
CREATE TRIGGER sealed_runs_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "sealed_runs"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();--> statement-breakpoint
CREATE TRIGGER sealing_keys_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "sealing_keys"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();--> statement-breakpoint
-- The run-time role may insert into all other tables. With a key of its own it could sign a forged ledger.
CREATE FUNCTION refuse_other_roles() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_catalog.pg_has_role((SELECT relowner FROM pg_catalog.pg_class WHERE oid = tg_relid), 'MEMBER') THEN
    RAISE EXCEPTION 'only migrations add rows to %', tg_table_name USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER sealing_keys_of_migrations BEFORE INSERT ON "sealing_keys"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_other_roles();--> statement-breakpoint
INSERT INTO "sealed_head" ("number", "hash") VALUES (0, repeat('0', 64));--> statement-breakpoint
CREATE TRIGGER sealed_head_forward BEFORE UPDATE ON "sealed_head" FOR EACH ROW
  WHEN (new.id IS DISTINCT FROM old.id OR new.number <> old.number + 1) EXECUTE FUNCTION refuse_change();--> statement-breakpoint
CREATE TRIGGER sealed_head_stays BEFORE DELETE OR TRUNCATE ON "sealed_head"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();--> statement-breakpoint
INSERT INTO "ledger_checks" DEFAULT VALUES;--> statement-breakpoint
-- Balances change with every callback. With free space on the page, a new row version needs no new index entries.
ALTER TABLE "players" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "rounds" SET (fillfactor = 85);--> statement-breakpoint
ALTER TABLE "sessions" SET (fillfactor = 85);--> statement-breakpoint
-- The planner does not know how few pages match the Bloom filter, and would scan the whole table.
CREATE FUNCTION players_of_round(wanted text) RETURNS SETOF text
  LANGUAGE sql STABLE SET enable_seqscan = off SET enable_indexscan = off
  AS $$ SELECT player_id FROM rounds WHERE round_id = wanted $$;--> statement-breakpoint
-- The smallest UUIDv7 for a time.
CREATE FUNCTION first_id_of(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE
  AS $$ SELECT rpad(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0'), 32, '0')::uuid $$;--> statement-breakpoint
-- Creates the partitions of `refusals` for today and the next week, and removes those that are older than `kept` days. The
-- run-time role may call it, although it may not alter tables; it cannot remove the last week. Callbacks are not blocked:
-- attaching a partition does not conflict with inserts, truncating locks only the old partition, and partitions are dropped
-- only when no callback is using the table, else by a later call.
CREATE FUNCTION keep_refusal_days(kept integer) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET lock_timeout = '1s' AS $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  day date;
  partition text;
  emptied text[] := '{}';
BEGIN
  IF kept IS NULL OR kept < 7 THEN RAISE 'refusals are kept for at least 7 days, not %', kept; END IF;
  IF NOT pg_try_advisory_xact_lock(4218337) THEN RETURN; END IF;
  FOR day IN SELECT today + n FROM generate_series(0, 7) n LOOP
    partition := to_char(day, '"refusals_"YYYYMMDD');
    CONTINUE WHEN to_regclass(partition) IS NOT NULL;
    EXECUTE format('CREATE TABLE %I (LIKE refusals INCLUDING ALL)', partition);
    EXECUTE format('ALTER TABLE refusals ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', partition,
      first_id_of(day::timestamp AT TIME ZONE 'UTC'), first_id_of((day + 1)::timestamp AT TIME ZONE 'UTC'));
  END LOOP;
  FOR partition IN
    SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'refusals'::regclass
      AND relname < to_char(today - kept, '"refusals_"YYYYMMDD') ORDER BY relname
  LOOP
    BEGIN
      EXECUTE format('TRUNCATE %I', partition);
      emptied := emptied || partition;
    EXCEPTION WHEN lock_not_available THEN CONTINUE;
    END;
  END LOOP;
  IF emptied = '{}' THEN RETURN; END IF;
  -- Refused callbacks wait while this lock is held, so nothing below waits for another lock.
  BEGIN
    LOCK TABLE refusals IN ACCESS EXCLUSIVE MODE NOWAIT;
    FOREACH partition IN ARRAY emptied LOOP
      EXECUTE format('DROP TABLE %I', partition);
    END LOOP;
  EXCEPTION WHEN lock_not_available THEN NULL;
  END;
END $$;--> statement-breakpoint
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION keep_refusal_days SET search_path = %I, pg_temp', current_schema());
END $$;--> statement-breakpoint
SELECT keep_refusal_days(90);

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
	CONSTRAINT "entries_player_id_seq_pk" PRIMARY KEY("player_id","seq"),
	CONSTRAINT "entries_balance_after" CHECK ("entries"."balance_after" >= 0),
	CONSTRAINT "entries_amount" CHECK (case "entries"."operation"
        when 'debit' then "entries"."amount" <= 0
        when 'withdrawal' then "entries"."amount" < 0
        when 'tombstone' then "entries"."amount" = 0
        else "entries"."amount" >= 0 end)
);
--> statement-breakpoint
CREATE TABLE "games" (
	"game_code" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"enabled" boolean NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
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
	"excluded" boolean DEFAULT false NOT NULL,
	"excluded_until" date,
	"name" text,
	"country_code" text,
	"language_code" text,
	"birth_date" date,
	"address" text,
	"created_at" timestamp (3) with time zone NOT NULL,
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
	CONSTRAINT "rounds_player_id_round_id_pk" PRIMARY KEY("player_id","round_id")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"token_hash" text PRIMARY KEY NOT NULL,
	"player_id" text NOT NULL,
	"game_code" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"launch_id" uuid DEFAULT uuidv7() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "audit_events_player" ON "audit_events" USING btree ("player_id","event_id");--> statement-breakpoint
CREATE UNIQUE INDEX "entries_transaction" ON "entries" USING btree ("transaction_id","id_space");--> statement-breakpoint
CREATE UNIQUE INDEX "entries_reversal" ON "entries" USING btree ("reverses","id_space") WHERE "entries"."operation" = 'rollback' and "entries"."amount" > 0;--> statement-breakpoint
CREATE INDEX "players_created" ON "players" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "rounds_open" ON "rounds" USING btree ("opened_at") WHERE "rounds"."closed_at" is null;--> statement-breakpoint
CREATE INDEX "sessions_expiry" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "sessions_launch" ON "sessions" USING btree ("launch_id");--> statement-breakpoint
-- The ledger, the audit trail and the settings that the ledger depends on are append-only.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % can be added, never changed or removed', tg_table_name USING ERRCODE = 'restrict_violation';
END $$;--> statement-breakpoint
CREATE TRIGGER entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "entries"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();--> statement-breakpoint
CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_events"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();--> statement-breakpoint
CREATE TRIGGER ledger_settings_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_settings"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();--> statement-breakpoint
-- Balances change with every callback: with free space on its page a new row version needs no new index entries.
ALTER TABLE "players" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "rounds" SET (fillfactor = 85);--> statement-breakpoint
-- Writes the debits and credits of a batch that are certainly accepted, and returns their balances. See
-- src/ledger/ordinary-moves.ts, its only caller, for what the arrays hold and for the settings of the connection.
-- A function, because the second statement needs a snapshot from after the locks, in the same round trip.
CREATE FUNCTION write_ordinary_moves(
  players_to_lock text[], player_ids text[], transaction_ids text[], id_spaces text[], round_ids text[],
  game_codes text[], amounts bigint[], rounds_closed boolean[], session_hashes text[],
  moment timestamptz, accept_unknown_rounds boolean
) RETURNS TABLE (move_number bigint, new_balance bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  -- In sorted order, so that two batches never wait for each other in a circle.
  PERFORM FROM players WHERE player_id = ANY (players_to_lock) ORDER BY player_id FOR NO KEY UPDATE;
  RETURN QUERY WITH judged AS (
    SELECT move.*, round.player_id IS NULL AS is_new_round,
      player.seq + row_number() OVER so_far AS seq,
      player.balance + sum(move.amount) OVER so_far AS balance_after,
      row_number() OVER so_far = count(*) OVER of_player AS is_last_of_player,
      player.balance + sum(least(move.amount, 0)) OVER of_player >= 0
        AND player.balance + sum(greatest(move.amount, 0)) OVER of_player <= 9223372036854775807
        AND bool_and(known.player_id IS NULL AND round.closed_at IS NULL AND coalesce(
          CASE WHEN move.round_closed IS NULL -- a debit
            THEN player.status = 'active' AND game.enabled
              AND NOT (player.excluded AND coalesce(player.excluded_until >= (moment AT TIME ZONE 'UTC')::date, true))
              AND (move.session IS NULL
                OR (session.player_id = move.player_id AND session.expires_at > moment))
            ELSE player.player_id IS NOT NULL AND (round.player_id IS NOT NULL OR accept_unknown_rounds)
          END, false)) OVER of_player AS is_ordinary
    FROM unnest(player_ids, transaction_ids, id_spaces, round_ids, game_codes, amounts, rounds_closed, session_hashes)
        WITH ORDINALITY AS move (player_id, transaction_id, id_space, round_id, game_code, amount, round_closed,
          session, number)
      LEFT JOIN players player ON player.player_id = move.player_id
      LEFT JOIN entries known ON known.transaction_id = move.transaction_id AND known.id_space = move.id_space
      LEFT JOIN rounds round ON round.player_id = move.player_id AND round.round_id = move.round_id
      LEFT JOIN games game ON game.game_code = move.game_code
      LEFT JOIN sessions session ON session.token_hash = move.session
    WINDOW of_player AS (PARTITION BY move.player_id),
      so_far AS (PARTITION BY move.player_id ORDER BY move.number ROWS UNBOUNDED PRECEDING)
  ), accepted AS MATERIALIZED (
    SELECT * FROM judged WHERE is_ordinary
  ), new_entries AS (
    INSERT INTO entries (player_id, seq, operation, transaction_id, round_id, game_code, amount, balance_after,
      round_closed, at, id_space)
    SELECT player_id, seq, CASE WHEN round_closed IS NULL THEN 'debit' ELSE 'credit' END, transaction_id, round_id,
      game_code, amount, balance_after, round_closed, moment, id_space FROM accepted
  ), new_rounds AS (
    INSERT INTO rounds (player_id, round_id, game_code, opened_at, closed_at)
    SELECT player_id, round_id, game_code, moment, CASE WHEN round_closed THEN moment END
    FROM accepted WHERE is_new_round OR round_closed
    ON CONFLICT (player_id, round_id) DO UPDATE SET closed_at = excluded.closed_at
  ), new_balances AS (
    -- An upsert finds its rows by their key under every plan. All players exist, so nothing is inserted.
    INSERT INTO players (player_id, currency, balance, seq, created_at)
    SELECT player_id, '', balance_after, seq, moment FROM accepted WHERE is_last_of_player
    ON CONFLICT (player_id) DO UPDATE SET balance = excluded.balance, seq = excluded.seq
  ) SELECT number, balance_after::bigint FROM accepted;
END $$;

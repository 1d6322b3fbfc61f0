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
ALTER TABLE "rounds" SET (fillfactor = 85);
--> statement-breakpoint

-- Decides and writes the callbacks of one batch, in one transaction and one round trip.
--
-- batch: a JSON array of {n, op, p(layer), t(ransaction), r(ound), g(ame), a(mount), v: what a rollback
-- reverses, c(losed), s(ession token's hash), u: currency}. No two of its items may name the same
-- transaction or the same round of a player: only balances go from one item to the next.
-- k: the space of its transaction ids (id-space.ts).
-- locks: the players whose money may move.
--
-- The rules are those of src/ledger/domain.ts, in the same order. The lock comes first and in sorted order,
-- so that two batches never wait for each other in a circle; what is read after it is the newest there is.
-- One statement judges all items by what is stored (`why`, and `moved`: by how much the balance would move,
-- null where nothing may be written); the loop is left with what one item does to the next: the balance.
CREATE FUNCTION commit_batch(batch json, locks text[], moment timestamptz, rollback_after_close text, credit_unknown_round text, sessions_policy text)
RETURNS TABLE (n int, status text, balance bigint, reason text, profile json)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
-- Every look-up is by a whole key; what the tables held when a plan was made must not matter. For the same
-- reason rows are changed by ON CONFLICT, which always goes by the key, and never by UPDATE … FROM.
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_material = off
AS $$
#variable_conflict use_column
DECLARE
  highest CONSTANT bigint := 9223372036854775807;
  today CONSTANT date := (moment AT TIME ZONE 'UTC')::date;
  i record;
  player text;
  current_balance bigint;
  current_seq bigint;
  new_entries entries[] := '{}';
  new_rounds rounds[] := '{}';
  closed_rounds rounds[] := '{}';
  audited json[] := '{}';
BEGIN
  PERFORM FROM players p WHERE p.player_id = ANY (locks) ORDER BY p.player_id FOR NO KEY UPDATE;

  FOR i IN
    SELECT j.*,
      CASE WHEN NOT known AND (why IS NULL OR why IN ('nothing_to_reverse', 'already_reversed', 'after_close')) THEN
        CASE op
          WHEN 'debit' THEN -a
          WHEN 'credit' THEN a
          WHEN 'rollback' THEN CASE WHEN why IS NULL OR why = 'after_close' THEN -bet ELSE 0 END
          WHEN 'deposit' THEN a
          WHEN 'withdrawal' THEN -a END END AS moved
    FROM (
      SELECT m.*, p.balance, p.seq,
        e.player_id IS NOT NULL AS known, e.balance_after AS stored,
        d.player_id IS NULL AS target_unknown, d.amount AS bet,
        rd.player_id IS NULL AND (m.op IN ('debit', 'credit') OR m.c) AS opens,
        rd.player_id IS NOT NULL AND rd.closed_at IS NULL AND m.c AS closes,
        CASE WHEN m.op = 'authenticate' THEN json_build_object(
          'name', p.name, 'countryCode', p.country_code, 'languageCode', p.language_code,
          'birthDate', p.birth_date, 'registrationDate', (p.created_at AT TIME ZONE 'UTC')::date,
          'address', p.address, 'excludedUntil', p.excluded_until) END AS profile,
        CASE
          WHEN e.player_id IS NOT NULL THEN CASE
            WHEN e.operation = 'tombstone' THEN 'tombstoned'
            WHEN e.operation <> m.op OR e.player_id <> m.p
              OR e.round_id IS DISTINCT FROM m.r OR e.game_code IS DISTINCT FROM m.g
              OR e.reverses IS DISTINCT FROM m.v OR e.round_closed IS DISTINCT FROM m.c
              OR abs(e.amount) <> m.a THEN 'parameters_differ' END
          WHEN p.player_id IS NULL THEN 'player_unknown'
          WHEN m.op IN ('debit', 'authenticate') THEN CASE
            WHEN p.status = 'disabled' THEN 'player_disabled'
            WHEN m.op = 'debit' AND p.excluded AND coalesce(p.excluded_until >= today, true) THEN 'player_excluded'
            WHEN m.op = 'debit' AND m.s IS NULL AND sessions_policy = 'required' THEN 'session_missing'
            WHEN m.s IS NOT NULL AND s.player_id IS DISTINCT FROM m.p THEN 'session_unknown'
            WHEN m.s IS NOT NULL AND s.expires_at <= moment THEN 'session_expired'
            WHEN g.enabled IS NOT TRUE THEN 'game_unavailable'
            WHEN m.op = 'debit' THEN CASE WHEN rd.closed_at IS NOT NULL THEN 'round_closed' END
            WHEN (CASE m.u WHEN 'RMB' THEN 'CNY' ELSE m.u END) <> p.currency THEN 'currency_differs'
            WHEN p.excluded AND coalesce(p.excluded_until >= today, true) THEN 'player_excluded' END
          WHEN m.op = 'credit' THEN CASE
            WHEN rd.closed_at IS NOT NULL THEN 'round_closed'
            WHEN rd.player_id IS NULL AND credit_unknown_round = 'reject' THEN 'round_unknown' END
          WHEN m.op = 'rollback' THEN CASE
            WHEN m.v = m.t THEN 'reverses_itself'
            WHEN d.player_id IS NULL OR d.operation = 'tombstone' THEN 'nothing_to_reverse'
            WHEN d.operation <> 'debit' THEN 'target_is_no_debit'
            WHEN d.player_id <> m.p OR d.round_id <> m.r THEN 'target_of_another_player_or_round'
            WHEN EXISTS (SELECT FROM entries x
              WHERE x.reverses = m.v AND x.id_space = m.k AND x.operation = 'rollback' AND x.amount > 0)
              THEN 'already_reversed'
            WHEN rd.closed_at IS NULL THEN NULL
            WHEN rollback_after_close = 'reject' THEN 'round_closed'
            ELSE 'after_close' END
        END AS why
      FROM json_to_recordset(batch) AS m(
        n int, op text, p text, k text, t text, r text, g text, a bigint, v text, c boolean, s text, u text)
      LEFT JOIN players p ON p.player_id = m.p
      LEFT JOIN entries e ON e.transaction_id = m.t AND e.id_space = m.k
      LEFT JOIN entries d ON d.transaction_id = m.v AND d.id_space = m.k
      LEFT JOIN rounds rd ON rd.player_id = m.p AND rd.round_id = m.r
      LEFT JOIN games g ON g.game_code = m.g
      LEFT JOIN sessions s ON s.token_hash = m.s
      OFFSET 0 -- or each CASE would be worked out again wherever its result is used
    ) j
    ORDER BY p, n
  LOOP
    IF player IS DISTINCT FROM i.p THEN
      player := i.p; current_balance := i.balance; current_seq := i.seq;
    END IF;
    n := i.n; status := 'OK'; reason := i.why; profile := i.profile;

    IF i.moved IS NULL THEN
      IF i.known AND reason IS NULL THEN
        balance := i.stored;
      ELSIF reason IS NULL OR (reason = 'player_excluded' AND i.op = 'authenticate') THEN
        balance := current_balance;
      ELSE
        balance := NULL; profile := NULL;
        status := CASE
          WHEN reason IN ('player_disabled', 'player_excluded') THEN 'ERROR_PLAYER_DISABLED'
          WHEN reason IN ('session_missing', 'session_unknown') THEN 'ERROR_INVALID_SESSION'
          WHEN reason = 'session_expired' THEN 'ERROR_SESSION_EXPIRED'
          WHEN reason = 'game_unavailable' THEN 'ERROR_INVALID_GAME'
          WHEN reason = 'currency_differs' THEN 'ERROR_WRONG_CURRENCY'
          WHEN reason = 'parameters_differ' THEN 'ERROR_DUPLICATE_TRANSACTION'
          WHEN reason = 'reverses_itself' THEN 'ERROR_WRONG_SYNTAX'
          WHEN reason IN ('round_unknown', 'target_is_no_debit', 'target_of_another_player_or_round')
            THEN 'ERROR_TRANSACTION_DOES_NOT_EXIST'
          ELSE 'ERROR_UNKNOWN' END;
      END IF;
    ELSIF i.moved < -current_balance THEN
      status := 'ERROR_NOT_ENOUGH_MONEY'; reason := 'no_money'; balance := current_balance;
    ELSIF i.moved > highest - current_balance THEN
      status := 'ERROR_UNKNOWN'; reason := 'balance_overflow'; balance := NULL;
    ELSE
      IF i.op = 'rollback' AND i.target_unknown THEN
        current_seq := current_seq + 1;
        new_entries := new_entries || ROW(
          i.p, current_seq, 'tombstone', i.v, i.r, i.g, 0, current_balance, NULL, NULL, moment, i.k)::entries;
      END IF;
      current_balance := current_balance + i.moved;
      current_seq := current_seq + 1;
      balance := current_balance;
      new_entries := new_entries || ROW(
        i.p, current_seq, i.op, i.t, i.r, i.g, i.moved, current_balance, i.v, i.c, moment, i.k)::entries;
      IF i.opens THEN
        new_rounds := new_rounds || ROW(i.p, i.r, i.g, moment, CASE WHEN i.c THEN moment END)::rounds;
      ELSIF i.closes THEN
        closed_rounds := closed_rounds || ROW(i.p, i.r, i.g, moment, moment)::rounds;
      END IF;
    END IF;

    IF reason IS NOT NULL AND i.op <> 'balance' THEN
      audited := audited || json_build_object('p', i.p, 'd', json_strip_nulls(json_build_object(
        'operation', i.op, 'status', status, 'reason', reason, 'transactionId', i.t, 'roundId', i.r,
        'gameCode', i.g, 'amount', i.a, 'reverseTransactionId', i.v)));
    END IF;
    RETURN NEXT;
  END LOOP;

  IF cardinality(new_entries) > 0 THEN
    INSERT INTO entries SELECT * FROM unnest(new_entries);
    -- These players are there and locked, so that what else a new player needs is never looked at.
    INSERT INTO players (player_id, currency, balance, seq, created_at)
    SELECT DISTINCT ON (player_id) player_id, '', balance_after, seq, at
    FROM unnest(new_entries) ORDER BY player_id, seq DESC
    ON CONFLICT (player_id) DO UPDATE SET balance = excluded.balance, seq = excluded.seq;
  END IF;
  -- Whoever writes a round holds its player's lock, so that none of these can be there already.
  IF cardinality(new_rounds) > 0 THEN
    INSERT INTO rounds SELECT * FROM unnest(new_rounds);
  END IF;
  IF cardinality(closed_rounds) > 0 THEN
    INSERT INTO rounds SELECT * FROM unnest(closed_rounds)
    ON CONFLICT (player_id, round_id) DO UPDATE SET closed_at = excluded.closed_at;
  END IF;
  IF cardinality(audited) > 0 THEN
    INSERT INTO audit_events (at, kind, player_id, details)
    SELECT moment, 'callback', a ->> 'p', (a -> 'd')::jsonb FROM unnest(audited) AS a;
  END IF;
END $$;

-- What is written in the ledger and in the audit trail stays as it was written.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are added, never changed', tg_table_name USING ERRCODE = 'restrict_violation';
END $$;--> statement-breakpoint
CREATE TRIGGER entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "entries"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();--> statement-breakpoint
CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_events"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();--> statement-breakpoint
-- Balances change with every callback: with room on its page a new version needs no new index entries.
ALTER TABLE "players" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "rounds" SET (fillfactor = 85);--> statement-breakpoint

-- Decides and writes the callbacks of one batch, in one transaction and one round trip.
--
-- batch: a JSON array of {n, op, p(layer), t(ransaction), r(ound), g(ame), a(mount), v: what a rollback
-- reverses, c(losed), s(ession token's hash), u: currency}. No two of its items may name the same
-- transaction or the same round of a player: only balances go from one item to the next.
--
-- The rules are those of src/ledger/domain.ts, in the same order. The lock comes first and in sorted order,
-- so that two batches never wait for each other in a circle; what is read after it is the newest there is.
CREATE FUNCTION commit_batch(batch json, moment timestamptz, rollback_after_close text, credit_unknown_round text, sessions_policy text)
RETURNS TABLE (n int, status text, balance bigint, reason text, profile json)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
-- Every look-up is by a whole key; what the tables held when a plan was made must not matter.
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
  highest CONSTANT bigint := 9223372036854775807;
  today CONSTANT date := (moment AT TIME ZONE 'UTC')::date;
  i record;
  player text;
  current_balance bigint;
  current_seq bigint;
  barred boolean;
  verdict text;
  why text;
  answered bigint;
  moved bigint;
  writes boolean;
  opens boolean;
  closes boolean;
  new_entries entries[] := '{}';
  new_rounds rounds[] := '{}';
  closed_rounds rounds[] := '{}';
  changed_players text[] := '{}';
  changed_balances bigint[] := '{}';
  changed_seqs bigint[] := '{}';
  audited json[] := '{}';
BEGIN
  PERFORM FROM players p
  WHERE p.player_id = ANY (ARRAY(
    SELECT m.p FROM json_to_recordset(batch) AS m(op text, p text) WHERE m.op NOT IN ('balance', 'authenticate')))
  ORDER BY p.player_id FOR NO KEY UPDATE;

  FOR i IN
    SELECT m.*,
      p.player_id AS found, p.balance, p.seq, p.currency, p.status = 'disabled' AS disabled,
      p.excluded, p.excluded_until,
      e.operation AS e_operation, e.player_id AS e_player, e.round_id AS e_round, e.game_code AS e_game,
      e.amount AS e_amount, e.balance_after AS e_balance, e.reverses AS e_reverses, e.round_closed AS e_closed,
      d.operation AS d_operation, d.player_id AS d_player, d.round_id AS d_round, d.amount AS d_amount,
      x.seq IS NOT NULL AS reversed,
      rd.player_id IS NOT NULL AS round_seen, rd.closed_at IS NOT NULL AS round_over,
      coalesce(g.enabled, false) AS game_enabled,
      s.player_id AS session_player, s.expires_at <= moment AS session_expired,
      CASE WHEN m.op = 'authenticate' THEN json_build_object(
        'name', p.name, 'countryCode', p.country_code, 'languageCode', p.language_code,
        'birthDate', p.birth_date, 'registrationDate', (p.created_at AT TIME ZONE 'UTC')::date,
        'address', p.address, 'excludedUntil', p.excluded_until) END AS profile
    FROM json_to_recordset(batch) AS m(
      n int, op text, p text, t text, r text, g text, a bigint, v text, c boolean, s text, u text)
    LEFT JOIN players p ON p.player_id = m.p
    LEFT JOIN entries e ON e.transaction_id = m.t
    LEFT JOIN entries d ON d.transaction_id = m.v
    LEFT JOIN entries x ON x.reverses = m.v AND x.operation = 'rollback' AND x.amount > 0
    LEFT JOIN rounds rd ON rd.player_id = m.p AND rd.round_id = m.r
    LEFT JOIN games g ON g.game_code = m.g
    LEFT JOIN sessions s ON s.token_hash = m.s
    ORDER BY m.p, m.n
  LOOP
    IF player IS DISTINCT FROM i.p THEN
      player := i.p;
      current_balance := i.balance;
      current_seq := i.seq;
    END IF;
    barred := i.excluded AND (i.excluded_until IS NULL OR i.excluded_until >= today);
    verdict := 'OK'; why := NULL; answered := NULL; moved := 0; writes := false; opens := false; closes := false;

    IF i.t IS NOT NULL AND i.e_operation IS NOT NULL THEN
      IF i.op = 'debit' AND i.e_operation = 'tombstone' THEN
        verdict := 'ERROR_UNKNOWN'; why := 'reversed_before_it_came';
      ELSIF i.e_operation = i.op AND i.e_player = i.p
        AND i.e_round IS NOT DISTINCT FROM i.r AND i.e_game IS NOT DISTINCT FROM i.g
        AND i.e_reverses IS NOT DISTINCT FROM i.v AND i.e_closed IS NOT DISTINCT FROM i.c
        AND (i.a IS NULL OR abs(i.e_amount) = i.a) THEN
        answered := i.e_balance;
      ELSE
        verdict := 'ERROR_DUPLICATE_TRANSACTION'; why := 'parameters_differ';
      END IF;

    ELSIF i.found IS NULL THEN
      verdict := 'ERROR_UNKNOWN'; why := 'player_unknown';

    ELSIF i.op = 'balance' THEN
      answered := current_balance;

    ELSIF i.op IN ('authenticate', 'debit') THEN
      IF i.disabled THEN
        verdict := 'ERROR_PLAYER_DISABLED'; why := 'player_disabled';
      ELSIF i.op = 'debit' AND barred THEN
        verdict := 'ERROR_PLAYER_DISABLED'; why := 'player_excluded';
      ELSIF i.op = 'debit' AND i.s IS NULL AND sessions_policy = 'required' THEN
        verdict := 'ERROR_INVALID_SESSION'; why := 'session_missing';
      ELSIF i.s IS NOT NULL AND i.session_player IS DISTINCT FROM i.p THEN
        verdict := 'ERROR_INVALID_SESSION'; why := 'session_unknown';
      ELSIF i.s IS NOT NULL AND i.session_expired THEN
        verdict := 'ERROR_SESSION_EXPIRED'; why := 'session_expired';
      ELSIF NOT i.game_enabled THEN
        verdict := 'ERROR_INVALID_GAME'; why := 'game_unavailable';
      ELSIF i.op = 'authenticate' THEN
        IF (CASE i.u WHEN 'RMB' THEN 'CNY' ELSE i.u END) <> i.currency THEN
          verdict := 'ERROR_WRONG_CURRENCY'; why := 'currency_differs';
        ELSE
          answered := current_balance;
          IF barred THEN why := 'player_excluded'; END IF;
        END IF;
      ELSIF i.round_over THEN
        verdict := 'ERROR_UNKNOWN'; why := 'round_closed';
      ELSIF i.a > current_balance THEN
        verdict := 'ERROR_NOT_ENOUGH_MONEY'; why := 'no_money'; answered := current_balance;
      ELSE
        writes := true; moved := -i.a; opens := true;
      END IF;

    ELSIF i.op = 'credit' THEN
      IF i.round_over THEN
        verdict := 'ERROR_UNKNOWN'; why := 'round_closed';
      ELSIF NOT i.round_seen AND credit_unknown_round = 'reject' THEN
        verdict := 'ERROR_TRANSACTION_DOES_NOT_EXIST'; why := 'round_unknown';
      ELSIF i.a > highest - current_balance THEN
        verdict := 'ERROR_UNKNOWN'; why := 'balance_overflow';
      ELSE
        writes := true; moved := i.a; opens := true; closes := i.c;
      END IF;

    ELSIF i.op = 'rollback' THEN
      IF i.v = i.t THEN
        verdict := 'ERROR_WRONG_SYNTAX'; why := 'reverses_itself';
      ELSIF i.d_operation IS NULL THEN
        writes := true; closes := i.c; why := 'nothing_to_reverse';
        current_seq := current_seq + 1;
        new_entries := new_entries || ROW(
          i.p, current_seq, 'tombstone', i.v, i.r, i.g, 0, current_balance, NULL, NULL, moment)::entries;
      ELSIF i.d_operation = 'tombstone' THEN
        writes := true; closes := i.c; why := 'nothing_to_reverse';
      ELSIF i.d_operation <> 'debit' THEN
        verdict := 'ERROR_TRANSACTION_DOES_NOT_EXIST'; why := 'target_is_no_debit';
      ELSIF i.d_player <> i.p OR i.d_round <> i.r THEN
        verdict := 'ERROR_TRANSACTION_DOES_NOT_EXIST'; why := 'target_of_another_player_or_round';
      ELSIF i.reversed THEN
        writes := true; closes := i.c; why := 'already_reversed';
      ELSIF i.round_over AND rollback_after_close = 'reject' THEN
        verdict := 'ERROR_UNKNOWN'; why := 'round_closed';
      ELSIF -i.d_amount > highest - current_balance THEN
        verdict := 'ERROR_UNKNOWN'; why := 'balance_overflow';
      ELSE
        writes := true; moved := -i.d_amount; closes := i.c;
        IF i.round_over THEN why := 'after_close'; END IF;
      END IF;

    ELSIF i.op = 'withdrawal' AND i.a > current_balance THEN
      verdict := 'ERROR_NOT_ENOUGH_MONEY'; why := 'no_money'; answered := current_balance;
    ELSIF i.op = 'deposit' AND i.a > highest - current_balance THEN
      verdict := 'ERROR_UNKNOWN'; why := 'balance_overflow';
    ELSE
      writes := true; moved := CASE i.op WHEN 'deposit' THEN i.a ELSE -i.a END;
    END IF;

    IF writes THEN
      current_balance := current_balance + moved;
      current_seq := current_seq + 1;
      answered := current_balance;
      new_entries := new_entries || ROW(
        i.p, current_seq, i.op, i.t, i.r, i.g, moved, current_balance, i.v, i.c, moment)::entries;
      IF NOT i.round_seen AND (opens OR closes) THEN
        new_rounds := new_rounds || ROW(i.p, i.r, i.g, moment, CASE WHEN closes THEN moment END)::rounds;
      ELSIF closes AND NOT i.round_over THEN
        closed_rounds := closed_rounds || ROW(i.p, i.r, i.g, moment, moment)::rounds;
      END IF;
      IF changed_players[cardinality(changed_players)] = i.p THEN
        changed_balances[cardinality(changed_players)] := current_balance;
        changed_seqs[cardinality(changed_players)] := current_seq;
      ELSE
        changed_players := changed_players || i.p;
        changed_balances := changed_balances || current_balance;
        changed_seqs := changed_seqs || current_seq;
      END IF;
    END IF;

    IF why IS NOT NULL AND i.op <> 'balance' THEN
      audited := audited || json_build_object('p', i.p, 'd', json_strip_nulls(json_build_object(
        'operation', i.op, 'status', verdict, 'reason', why, 'transactionId', i.t, 'roundId', i.r,
        'gameCode', i.g, 'amount', i.a, 'reverseTransactionId', i.v)));
    END IF;

    commit_batch.n := i.n; commit_batch.status := verdict; commit_batch.balance := answered;
    commit_batch.reason := why; commit_batch.profile := CASE WHEN verdict = 'OK' THEN i.profile END;
    RETURN NEXT;
  END LOOP;

  IF cardinality(new_entries) > 0 THEN
    INSERT INTO entries SELECT * FROM unnest(new_entries);
    UPDATE players p SET balance = c.balance, seq = c.seq
    FROM unnest(changed_players, changed_balances, changed_seqs) AS c(player_id, balance, seq)
    WHERE p.player_id = c.player_id;
  END IF;
  -- Whoever writes a round holds its player's lock, so that none of these can be there already.
  IF cardinality(new_rounds) > 0 THEN
    INSERT INTO rounds SELECT * FROM unnest(new_rounds);
  END IF;
  IF cardinality(closed_rounds) > 0 THEN
    UPDATE rounds r SET closed_at = moment FROM unnest(closed_rounds) AS c
    WHERE r.player_id = c.player_id AND r.round_id = c.round_id;
  END IF;
  IF cardinality(audited) > 0 THEN
    INSERT INTO audit_events (at, kind, player_id, details)
    SELECT moment, 'callback', a ->> 'p', (a -> 'd')::jsonb FROM unnest(audited) AS a;
  END IF;
END $$;

DROP FUNCTION commit_batch(json, timestamptz, text, text, text);--> statement-breakpoint

-- Decides and writes the callbacks of one batch, in one transaction and one round trip.
--
-- batch: a JSON array of {n, op, p(layer), t(ransaction), r(ound), g(ame), a(mount), v: what a rollback
-- reverses, c(losed), s(ession token's hash), u: currency}. No two of its items may name the same
-- transaction or the same round of a player: only balances go from one item to the next.
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
            WHEN m.op = 'debit' AND e.operation = 'tombstone' THEN 'reversed_before_it_came'
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
            WHEN EXISTS (SELECT FROM entries x WHERE x.reverses = m.v AND x.operation = 'rollback' AND x.amount > 0)
              THEN 'already_reversed'
            WHEN rd.closed_at IS NULL THEN NULL
            WHEN rollback_after_close = 'reject' THEN 'round_closed'
            ELSE 'after_close' END
        END AS why
      FROM json_to_recordset(batch) AS m(
        n int, op text, p text, t text, r text, g text, a bigint, v text, c boolean, s text, u text)
      LEFT JOIN players p ON p.player_id = m.p
      LEFT JOIN entries e ON e.transaction_id = m.t
      LEFT JOIN entries d ON d.transaction_id = m.v
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
          i.p, current_seq, 'tombstone', i.v, i.r, i.g, 0, current_balance, NULL, NULL, moment)::entries;
      END IF;
      current_balance := current_balance + i.moved;
      current_seq := current_seq + 1;
      balance := current_balance;
      new_entries := new_entries || ROW(
        i.p, current_seq, i.op, i.t, i.r, i.g, i.moved, current_balance, i.v, i.c, moment)::entries;
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

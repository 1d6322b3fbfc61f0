import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Debit, Policy } from '../src/ledger/command.ts';
import { commitCommands } from '../src/ledger/decisions.ts';
import { commitMoves } from '../src/ledger/ordinary-moves.ts';
import { sessionHash } from '../src/ledger/sessions.ts';
import { endSessions, insertSession } from '../src/accounts/sessions.ts';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { holdPlayer } from './hold-player.ts';

const policy: Policy = {
  rollbackAfterClose: 'reverse',
  creditUnknownRound: 'accept',
  sessions: 'required',
  transactionIds: 'global',
  limitStatus: 'ERROR_UNKNOWN',
  sessionBreakS: 1800,
  sessionTtlS: 3600,
  sessionMaxS: 43_200,
};

test.each([
  // One statement sees the session as it was when the statement began: the bet was first.
  ['an ordinary bet', commitMoves, 'OK'],
  ['a decided bet', commitCommands, 'ERROR_SESSION_EXPIRED'],
])(
  '%s that waits for its player while the session is ended does not revive it',
  async (_what, commit, status) => {
    await using service = await startService();
    const { sql } = service.context.database;
    const [gameCode, playerId, sessionToken] = [await addGame(sql), await addPlayer(sql), randomUUID()];
    const session = sessionHash(sessionToken);
    const launched = { tokenHash: session, playerId, gameCode, sessionId: randomUUID() };
    await insertSession(sql, launched, { ttl: policy.sessionTtlS, longest: policy.sessionMaxS });
    // Late enough that an accepted bet would give it a later end.
    await sql`update sessions set created_at = created_at - interval '30 minutes',
      expires_at = expires_at - interval '30 minutes'`;
    const { release } = await holdPlayer(service.databaseUrl, playerId);
    const ids = { playerId, gameCode, transactionId: randomUUID(), roundId: randomUUID() };
    const bet: Debit = { operation: 'debit', ...ids, amount: 100, session };
    const outcomes = commit(sql, [bet], undefined, policy);
    const waiting = () =>
      sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await waiting()).length, { interval: 5 }).toBe(1);
    await endSessions(sql, playerId);
    await release();
    expect(await outcomes).toMatchObject([{ status }]);
    expect((await callerOf(service, playerId).debit({ sessionToken })).status).toBe('ERROR_SESSION_EXPIRED');
    expect(await sql`select from sessions where expires_at > now()`).toHaveLength(0);
  },
);

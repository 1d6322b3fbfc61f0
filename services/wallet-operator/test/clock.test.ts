import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sessionHash } from '../src/ledger/sessions.ts';
import { insertSession } from '../src/accounts/sessions.ts';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { startService } from './harness.ts';
import { person } from './people.ts';
import { expectSoundLedger } from './proof.ts';

const dayMs = 86_400_000;

/** Moves the clock of this process, which is the application clock; timers and the database keep theirs. */
const moveClock = (days: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * dayMs });
  onTestFinished(() => void vi.useRealTimers());
};

const dateIn = (days: number): string => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);

test.each([40, -40])(
  'when the application clock is %i days off, exclusions and sessions last as long as the database says',
  async (days) => {
    await using service = await startService();
    const { sql } = service.context.database;
    await addGame(sql);
    const excluded = callerOf(service, await addPlayer(sql, { excluded: true, excludedUntil: dateIn(2) }));
    const free = callerOf(service, await addPlayer(sql, { excluded: true, excludedUntil: dateIn(-2) }));
    const sessionOf = (playerId: string, token: string) =>
      insertSession(
        sql,
        { tokenHash: sessionHash(token), playerId, gameCode: 'dice-alpha', sessionId: randomUUID() },
        { ttl: 3600, longest: 43_200 },
      );
    await sessionOf(free.playerId, 'made before');
    await sql`insert into sessions values ('old', ${free.playerId}, 'dice-alpha', now(), now() - interval '1 minute')`;
    moveClock(days);
    await sessionOf(free.playerId, 'made after');

    expect((await excluded.debit()).status).toBe('ERROR_PLAYER_DISABLED');
    expect(await excluded.authenticate()).toMatchObject({ status: 'OK', excluded: true });
    expect(await free.authenticate()).toMatchObject({ status: 'OK', excluded: false });
    for (const sessionToken of ['made before', 'made after'])
      expect((await free.debit({ sessionToken })).status).toBe('OK');
    const sessions = await sql`
      select extract(epoch from expires_at - now())::int > 3500 as is_new from sessions where expires_at > now()`;
    expect(sessions.map((row) => row['is_new'])).toEqual([true, true]);
    // A rejected attempt and a rollback are decided one by one, by the same clock.
    expect((await excluded.debit({ transactionId: randomUUID() })).status).toBe('ERROR_PLAYER_DISABLED');
    expect((await free.rollback()).status).toBe('OK');

    const admin = await person(service, 'wallet:admin wallet:read');
    const { body } = await admin.get(`/v1/players/${excluded.playerId}`);
    expect(body).toMatchObject({ excluded: true });
    await admin.post('/v1/players', { playerId: 'new', currency: 'EUR' });
    const [drift] = await sql`
      select count(*)::int as count from (
        select at from entries union all select opened_at from rounds union all select at from audit_events
        union all select created_at from players where player_id = 'new') as time (at)
      where abs(extract(epoch from at - now())) > 3600`;
    expect(drift).toEqual({ count: 0 });
    expect((await admin.get('/v1/rounds?olderThan=3600')).body['items'] ?? []).toEqual([]);
    await expectSoundLedger(service);
  },
);

test('after the clock of the database ran ahead by a year, a new exclusion holds and entries have the true time', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  const excluded = callerOf(service, await addPlayer(sql, { excluded: true, excludedUntil: dateIn(30) }));
  const free = callerOf(service, await addPlayer(sql));
  await sql`update players set decided_at = now() + interval '1 year'`;
  expect((await excluded.debit()).status).toBe('ERROR_PLAYER_DISABLED');
  expect((await free.debit()).status).toBe('OK');
  expect((await free.rollback()).status).toBe('OK');
  expect(await sql`select from entries where at > now()`).toHaveLength(0);
  await expectSoundLedger(service);
});

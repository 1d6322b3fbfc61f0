import { randomUUID } from 'node:crypto';
import { startPruning } from '@platform/service-kit/pruning';
import postgres, { type Sql } from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { sessionHash } from '../src/ledger/sessions.ts';
import { endSessions, outdatedSessions, insertSession } from '../src/accounts/sessions.ts';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { keys, startService } from './harness.ts';

const [ttl, longest] = [3600, 43_200];

/** A service, a player with sessions, and the time that passes for them. */
const startPlaying = async (variables: Record<string, string> = {}) => {
  const service = await startService({ variables });
  const { sql } = service.context.database;
  const gameCode = await addGame(sql);
  const playerId = await addPlayer(sql);
  const addSession = async (on = playerId) => {
    const sessionToken = randomUUID();
    const session = { tokenHash: sessionHash(sessionToken), playerId: on, gameCode };
    const { sessionId } = await insertSession(sql, { ...session, sessionId: randomUUID() }, { ttl, longest });
    return { sessionId, sessionToken };
  };
  const list = `/v1/players/${playerId}/sessions`;
  const agent = await service.agent('wallet:admin');
  const caller = callerOf(service, playerId);
  return { service, sql, gameCode, playerId, addSession, list, agent, caller };
};

/** As if all sessions had been written earlier. */
const passMinutes = (sql: Sql, minutes: number) => sql`
  update sessions set created_at = created_at - make_interval(mins => ${minutes}),
    expires_at = expires_at - make_interval(mins => ${minutes})`;

const minutesLeft = async (sql: Sql): Promise<number[]> => {
  const rows = await sql<{ left: number }[]>`
    select round(extract(epoch from expires_at - now()) / 60)::int as left from sessions order by 1`;
  return rows.map(({ left }) => left);
};

test('the time of a session runs from the last accepted call that names it, until 12 hours after its launch', async () => {
  const { service, sql, caller, addSession } = await startPlaying();
  await using _ = service;
  const { sessionToken } = await addSession();
  // A bet in a round that a win opened is decided, the others are ordinary moves.
  const roundId = randomUUID();
  await caller.credit({ roundId, roundClosed: false });
  const calls = [
    () => caller.debit({ sessionToken }),
    () => caller.debit({ sessionToken, roundId }),
    () => caller.authenticate({ sessionToken }),
  ];
  for (let minutes = 50, call = 0; minutes <= 700; minutes += 50, call++) {
    await passMinutes(sql, 50);
    expect((await calls[call % calls.length]?.())?.status).toBe('OK');
    expect(await minutesLeft(sql)).toEqual([Math.min(60, 720 - minutes)]);
  }
  await passMinutes(sql, 20);
  for (const call of [() => caller.debit({ sessionToken }), ...calls])
    expect((await call()).status).toBe('ERROR_SESSION_EXPIRED');
});

test('refused calls, repeats and calls without the session leave its time alone', async () => {
  const { service, sql, caller, addSession } = await startPlaying();
  await using _ = service;
  const { sessionToken } = await addSession();
  const bet = { transactionId: randomUUID(), roundId: randomUUID(), sessionToken };
  await caller.debit(bet);
  await passMinutes(sql, 50);
  expect((await caller.debit({ sessionToken, amount: '999999.00' })).status).toBe('ERROR_NOT_ENOUGH_MONEY');
  expect((await caller.authenticate({ sessionToken, currency: 'USD' })).status).toBe('ERROR_WRONG_CURRENCY');
  expect((await caller.debit(bet)).status).toBe('OK');
  expect((await caller.debit()).status).toBe('OK');
  expect((await caller.credit({ sessionToken })).status).toBe('OK');
  const stranger = callerOf(service, await addPlayer(sql));
  expect((await stranger.debit({ sessionToken })).status).toBe('ERROR_INVALID_SESSION');
  expect(await minutesLeft(sql)).toEqual([10]);
});

test('the time of a session is written at most once in a sixtieth of it, whatever many bets name it', async () => {
  const { service, sql, caller, addSession } = await startPlaying();
  await using _ = service;
  const { sessionToken } = await addSession();
  const row = () => sql`select xmin::text, expires_at from sessions`;
  const before = await row();
  await Promise.all(Array.from({ length: 50 }, () => caller.debit({ sessionToken, amount: '0.01' })));
  expect(await row()).toEqual(before);
  await passMinutes(sql, 2);
  const bets = Array.from({ length: 50 }, () => caller.debit({ sessionToken, amount: '0.01' }));
  expect(new Set((await Promise.all(bets)).map(({ status }) => status))).toEqual(new Set(['OK']));
  expect(await minutesLeft(sql)).toEqual([60]);
});

test('the sessions of a player can be read and ended one by one; their ids open nothing', async () => {
  const { service, sql, caller, addSession, list, agent, playerId, gameCode } = await startPlaying();
  await using _ = service;
  const first = await addSession();
  const second = await addSession();
  await addSession(await addPlayer(sql));
  const { body } = await agent.get(list).expect(200);
  expect(body).toMatchObject({ page: { number: 1, has_more: false, limit: 50 } });
  expect(body.sessions).toHaveLength(2);
  expect(body.sessions).toContainEqual({
    sessionId: second.sessionId,
    playerId,
    gameCode,
    createdAt: expect.any(String),
    expiresAt: expect.any(String),
  });
  const one = `${list}/${first.sessionId}`;
  expect((await agent.get(one).expect(200)).body.sessionId).toBe(first.sessionId);
  expect((await caller.debit({ sessionToken: first.sessionId })).status).toBe('ERROR_INVALID_SESSION');
  await agent.delete(one).expect(204);
  await agent.delete(one).expect(404);
  await agent.get(one).expect(404);
  expect((await agent.get(list)).body.sessions).toHaveLength(1);
  expect((await caller.debit(first)).status).toBe('ERROR_SESSION_EXPIRED');
  expect((await caller.debit(second)).status).toBe('OK');
  const { body: audit } = await agent.get(`/v1/audit/events?playerId=${playerId}`);
  expect(audit.events.find(({ kind }: { kind: string }) => kind === 'sessions_ended')).toMatchObject({
    details: { by: expect.any(String), sessionId: first.sessionId },
  });
});

test('all sessions of a player are ended at once', async () => {
  const { service, caller, addSession, list, agent } = await startPlaying();
  await using _ = service;
  const tokens = [await addSession(), await addSession()];
  await agent.delete(list).expect(204);
  for (const { sessionToken } of tokens)
    expect((await caller.debit({ sessionToken })).status).toBe('ERROR_SESSION_EXPIRED');
  expect((await agent.get(list)).body.sessions).toEqual([]);
  await agent.delete(list).expect(204);
  await agent.delete('/v1/players/nobody/sessions').expect(404);
  await agent.get('/v1/players/nobody/sessions').expect(404);
});

test.each(['debit', 'authenticate'] as const)(
  'a call of %s that began before its session was ended does not revive it',
  async (operation) => {
    const { service, sql, caller, addSession, playerId } = await startPlaying();
    await using _ = service;
    const { sessionToken } = await addSession();
    await passMinutes(sql, 30);
    const holder = postgres(service.databaseUrl, { max: 2, onnotice: () => undefined });
    onTestFinished(() => holder.end());
    const ending = await holder.reserve();
    await ending`begin`;
    await endSessions(ending, playerId);
    const answer = caller[operation]({ sessionToken });
    const waiting = () =>
      holder`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await waiting()).length, { interval: 5 }).toBe(1);
    await ending`commit`;
    ending.release();
    await answer;
    expect((await caller[operation]({ sessionToken })).status).toBe('ERROR_SESSION_EXPIRED');
  },
);

test('disabling a player ends the sessions of that player, and enabling revives none', async () => {
  const { service, sql, caller, addSession, list, agent, playerId, gameCode } = await startPlaying();
  await using _ = service;
  const { sessionToken } = await addSession();
  const stranger = callerOf(service, await addPlayer(sql));
  const { sessionToken: other } = await addSession(stranger.playerId);
  await agent.patch(`/v1/players/${playerId}`).send({ status: 'disabled' }).expect(200);
  for (const operation of ['debit', 'authenticate'] as const)
    expect((await caller[operation]({ sessionToken })).status).toBe('ERROR_PLAYER_DISABLED');
  expect((await agent.get(list)).body.sessions).toEqual([]);
  await agent.patch(`/v1/players/${playerId}`).send({ status: 'active' }).expect(200);
  expect((await caller.debit({ sessionToken, gameCode })).status).toBe('ERROR_SESSION_EXPIRED');
  expect((await stranger.debit({ sessionToken: other })).status).toBe('OK');
});

test('disabling a game ends its sessions, and enabling revives none', async () => {
  const { service, sql, caller, addSession, list, agent, playerId, gameCode } = await startPlaying();
  await using _ = service;
  const { sessionToken, sessionId } = await addSession();
  const cards = await addGame(sql, 'cards');
  const other = randomUUID();
  const session = { tokenHash: sessionHash(other), playerId, gameCode: cards };
  await insertSession(sql, { ...session, sessionId: randomUUID() }, { ttl, longest });
  await agent.patch(`/v1/games/${gameCode}`).send({ enabled: false }).expect(200);
  for (const operation of ['debit', 'authenticate'] as const)
    expect((await caller[operation]({ sessionToken })).status).toBe('ERROR_INVALID_GAME');
  expect((await agent.get(list)).body.sessions).toHaveLength(1);
  await agent.get(`${list}/${sessionId}`).expect(404);
  await agent.patch(`/v1/games/${gameCode}`).send({ enabled: true, name: 'Dice' }).expect(200);
  for (const amount of ['1.00', '9999.00'])
    expect((await caller.debit({ sessionToken, amount })).status).toBe('ERROR_SESSION_EXPIRED');
  expect((await caller.authenticate({ sessionToken })).status).toBe('ERROR_SESSION_EXPIRED');
  expect((await caller.debit({ sessionToken: other, gameCode: cards })).status).toBe('OK');
  // Of a session from now on.
  expect((await caller.debit({ sessionToken: (await addSession()).sessionToken })).status).toBe('OK');
});

test('sessions are read with wallet:read and ended with wallet:admin', async () => {
  const { service, addSession, list } = await startPlaying();
  await using _ = service;
  const { sessionId } = await addSession();
  const reader = await service.agent('wallet:read');
  await reader.get(list).expect(200);
  await reader.get(`${list}/${sessionId}`).expect(200);
  for (const path of [list, `${list}/${sessionId}`]) await reader.delete(path).expect(403);
  const stranger = await service.agent('quests:read');
  await stranger.get(list).expect(403);
  const token = await keys.token({ scope: 'wallet:read' });
  const wrong = await fetch(`${service.url}${list}/${randomUUID().slice(1)}`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(wrong.status).toBe(400);
});

test('sessions are deleted a day after the longest time they may have', async () => {
  const { service, sql, addSession } = await startPlaying();
  await using _ = service;
  const old = await addSession();
  await passMinutes(sql, 36 * 60 + 1);
  const late = await addSession();
  await passMinutes(sql, 35 * 60);
  await using _pruning = startPruning({
    sql,
    log: service.context.log,
    prunables: [outdatedSessions(service.context.env)],
  });
  const left = () => sql<{ sessionId: string }[]>`select session_id as "sessionId" from sessions`;
  await expect.poll(async () => (await left()).map(({ sessionId }) => sessionId)).toEqual([late.sessionId]);
  expect(old.sessionId).not.toBe(late.sessionId);
});

import { createServer } from 'node:http';
import { startPruning } from '@platform/service-kit/pruning';
import { expect, test } from 'vitest';
import { createStandIn } from '@platform/wallet-conformance/game-server/server';
import { addGame, addPlayer, callerOf } from '../../../test/factories.ts';
import { secret, startService } from '../../../test/harness.ts';
import { person } from '../../../test/people.ts';
import { serve } from '../../../test/serve.ts';
import { outdatedLaunches } from './queries.ts';

/** Starts a service with a game server: the one at `gameServerUrl`, or a stand-in that calls the service back. */
const startWithGameServer = async (gameServerUrl?: string, variables = {}, rounds = 0) => {
  let operatorUrl = '';
  const target = createServer((req, res) => {
    const standIn = createStandIn({ operatorUrl, secret, operatorId: 'op-1', rounds });
    standIn.emit('request', req, res);
  });
  const url = gameServerUrl ?? (await serve(target));
  const service = await startService({
    variables: { GAME_SERVER_URL: url, OPERATOR_ID: 'op-1', ...variables },
  });
  operatorUrl = service.url;
  const { sql } = service.context.database;
  await addGame(sql);
  return { service, sql, ann: await person(service), target };
};

test('a launch creates a session and opens the game at the game server', async () => {
  const { service, sql, ann } = await startWithGameServer();
  await using _ = service;
  const playerId = await addPlayer(sql);
  const order = { playerId, gameCode: 'dice-alpha', countryCode: 'DE' };
  const created = await ann.post('/v1/launches', order);
  expect(created).toMatchObject({
    status: 201,
    body: {
      playerId,
      launchUrl: expect.stringContaining('dice-alpha'),
      gameServer: { sessionToken: expect.any(String) },
    },
  });
  const { launchId, createdAt } = created.body;
  // The address that opens the game is returned only once.
  expect(await ann.get(created.location ?? '')).toMatchObject({
    status: 200,
    body: {
      launchId,
      playerId,
      gameCode: 'dice-alpha',
      launchedBy: 'ann',
      outcome: 'launched',
      createdAt,
    },
  });
  const { body: record } = await ann.get(created.location ?? '');
  expect(Object.keys(record)).not.toContain('launchUrl');
  expect((await ann.get('/v1/launches/0198c0de-0000-7000-8000-000000000000')).status).toBe(404);
  expect(await sql`select player_id, game_code from sessions`).toEqual([
    { player_id: playerId, game_code: 'dice-alpha' },
  ]);
});

test('the stand-in game server sends the session of a launch in authenticate and in its bets', async () => {
  const { service, sql, ann } = await startWithGameServer(undefined, { SESSION_POLICY: 'required' }, 3);
  await using _ = service;
  const playerId = await addPlayer(sql);
  const order = { playerId, gameCode: 'dice-alpha', countryCode: 'DE' };
  expect((await ann.post('/v1/launches', order)).status).toBe(201);
  const closed = async () =>
    (await sql`select count(*)::int as rounds from rounds where closed_at is not null`)[0]?.[
      'rounds'
    ] as number;
  await expect.poll(closed).toBe(3);
  // When the session has already expired, authenticate fails, so the game server refuses to open the game.
  await sql`create function end_at_once() returns trigger language plpgsql as
    $$ begin new.expires_at = now(); return new; end $$`;
  await sql`create trigger ended before insert on sessions for each row execute function end_at_once()`;
  expect((await ann.post('/v1/launches', order)).body).toMatchObject({ code: 'game_server_refused' });
});

test('a launch happens once for each Idempotency-Key; a repeat is answered with its address', async () => {
  const { service, sql } = await startWithGameServer();
  await using _ = service;
  const agent = await service.agent('wallet:admin');
  const order = { playerId: await addPlayer(sql), gameCode: 'dice-alpha', countryCode: 'DE' };
  const send = (body: object) => agent.post('/v1/launches').set('Idempotency-Key', 'once').send(body);
  await addGame(sql, 'off', false);
  // A launch that is refused before it starts does not consume the key.
  expect((await send({ ...order, gameCode: 'off' }).expect(422)).body.code).toBe('game_disabled');
  const { launchId } = (await send(order).expect(201)).body as { launchId: string };
  const { body: repeated } = await send(order).expect(409);
  expect(repeated).toMatchObject({ code: 'idempotency_key_used' });
  expect(repeated.detail).toContain(`/v1/launches/${launchId}`);
  const { body: other } = await send({ ...order, countryCode: 'SE' }).expect(422);
  expect(other.code).toBe('idempotency_key_reused');
  await agent.post('/v1/launches').set('Idempotency-Key', 'x'.repeat(129)).send(order).expect(400);
  expect(await sql`select session_id as "launchId" from sessions`).toEqual([{ launchId }]);
});

test('a launch that the game server did not answer is not repeated with the same Idempotency-Key', async () => {
  let calls = 0;
  const target = createServer((_req, res) => {
    calls += 1;
    res.writeHead(500).end();
  });
  const { service, sql } = await startWithGameServer(await serve(target));
  await using _ = service;
  const agent = await service.agent('wallet:admin');
  const order = { playerId: await addPlayer(sql), gameCode: 'dice-alpha', countryCode: 'DE' };
  const send = () => agent.post('/v1/launches').set('Idempotency-Key', 'once').send(order);
  expect((await send().expect(503)).body.code).toBe('game_server_unavailable');
  const [{ launchId } = {}] = await sql`select session_id as "launchId" from sessions`;
  expect((await send().expect(409)).body.detail).toContain(`/v1/launches/${launchId}`);
  expect(calls).toBe(1);
});

test('a launch is refused when the player, the game or the country does not allow it', async () => {
  const { service, sql, ann } = await startWithGameServer();
  await using _ = service;
  await addGame(sql, 'off', false);
  const order = { gameCode: 'dice-alpha', countryCode: 'DE' };
  const refusal = async (playerId: string, overrides: object = {}) => {
    const { status, body } = await ann.post('/v1/launches', { ...order, playerId, ...overrides });
    return `${status} ${String(body['code'])}`;
  };
  const active = await addPlayer(sql);
  expect(await refusal('nobody')).toBe('404 not_found');
  expect(await refusal(active, { gameCode: 'none' })).toBe('404 not_found');
  expect(await refusal(active, { gameCode: 'off' })).toBe('422 game_disabled');
  expect(await refusal(active, { countryCode: undefined })).toBe('422 country_unknown');
  expect(await refusal(await addPlayer(sql, { status: 'disabled' }))).toBe('422 player_disabled');
  expect(await refusal(await addPlayer(sql, { excluded: true }))).toBe('422 player_self_excluded');
});

test('every launch is recorded with its caller and outcome, and refusals are audited', async () => {
  const answers = [200, 403, 500];
  let asked = 0;
  const target = createServer((_req, res) => {
    res.statusCode = answers[asked++] ?? 200;
    res.end('{"url":"https://games.example.test/"}');
  });
  const { service, sql, ann } = await startWithGameServer(await serve(target));
  await using _ = service;
  await addGame(sql, 'off', false);
  const order = { gameCode: 'dice-alpha', countryCode: 'DE' };
  const excluded = await addPlayer(sql, { excluded: true });
  const active = await addPlayer(sql);
  await ann.post('/v1/launches', { ...order, playerId: excluded });
  await ann.post('/v1/launches', { ...order, playerId: 'nobody' });
  await ann.post('/v1/launches', { ...order, playerId: active, gameCode: 'off' });
  expect(asked).toBe(0);
  for (const _answer of answers) await ann.post('/v1/launches', { ...order, playerId: active });
  const listLaunches = async (query: string) => {
    const { status, body } = await ann.get(`/v1/launches${query}`);
    expect(status).toBe(200);
    return (body['launches'] as Record<string, unknown>[]).map(
      ({ playerId, gameCode, launchedBy, outcome }) =>
        `${String(launchedBy)} ${playerId === active ? 'active' : playerId === excluded ? 'excluded' : String(playerId)} ${String(gameCode)} ${String(outcome)}`,
    );
  };
  const [down, refused, open, off, unknown, barred] = [
    'ann active dice-alpha game_server_unavailable',
    'ann active dice-alpha game_server_refused',
    'ann active dice-alpha launched',
    'ann active off game_disabled',
    'ann nobody dice-alpha not_found',
    'ann excluded dice-alpha player_self_excluded',
  ];
  expect(await listLaunches('')).toEqual([down, refused, open, off, unknown, barred]);
  expect(await listLaunches(`?playerId=${excluded}`)).toEqual([barred]);
  expect(await listLaunches(`?playerId=${active}&gameCode=off`)).toEqual([off]);
  expect(await listLaunches('?outcome=launched')).toEqual([open]);
  expect(await listLaunches('?limit=1&page=2')).toEqual([refused]);
  expect((await ann.get('/v1/launches?outcome=unknown')).status).toBe(400);
  const audit = await sql<{ playerId: string; code: string; by: string }[]>`
    select player_id as "playerId", details ->> 'code' as code, details ->> 'by' as by from audit_events
    where kind = 'launch_refused' order by event_id`;
  expect(audit).toEqual([
    { playerId: excluded, code: 'player_self_excluded', by: 'ann' },
    { playerId: active, code: 'game_disabled', by: 'ann' },
    { playerId: active, code: 'game_server_refused', by: 'ann' },
  ]);
});

test('a launch that the game server has not answered yet is recorded as started', async () => {
  const held = Promise.withResolvers<void>();
  const slow = createServer(async (_req, res) => {
    await held.promise;
    res.end('{"url":"https://games.example.test/"}');
  });
  const { service, sql, ann } = await startWithGameServer(await serve(slow));
  await using _ = service;
  const order = { playerId: await addPlayer(sql), gameCode: 'dice-alpha', countryCode: 'DE' };
  const launch = ann.post('/v1/launches', order);
  const outcomes = async () =>
    (await sql`select outcome from launches`).map((row) => row['outcome'] as string);
  await expect.poll(outcomes).toEqual(['started']);
  held.resolve();
  expect((await launch).status).toBe(201);
  expect(await outcomes()).toEqual(['launched']);
});

test('launches are readable with wallet:read, and deleted after LAUNCHES_DAYS', async () => {
  await using service = await startService({ variables: { LAUNCHES_DAYS: '30' } });
  const { context, agent } = service;
  const { sql } = context.database;
  const reader = await agent('wallet:read');
  for (const days of [29, 31])
    await sql`insert into launches (launch_id, player_id, game_code, launched_by, outcome)
      values (uuidv7(${-days} * interval '1 day'), ${`p-${days}`}, 'dice-alpha', 'ann', 'launched')`;
  const players = async (): Promise<string[]> =>
    (await reader.get('/v1/launches').expect(200)).body.launches.map(
      ({ playerId }: { playerId: string }) => playerId,
    );
  expect(await players()).toEqual(['p-29', 'p-31']);
  await using _ = startPruning({ sql, log: context.log, prunables: [outdatedLaunches(context.env)] });
  await expect.poll(players).toEqual(['p-29']);
  await (await agent('wallet:adjust')).get('/v1/launches').expect(403);
});

test('without a configured game server the currencies are answered 503 no_game_server', async () => {
  await using service = await startService();
  const ann = await person(service);
  expect(await ann.get('/v1/currencies')).toMatchObject({ status: 503, body: { code: 'no_game_server' } });
});

test('the session of a launch is valid only for the bets of its player', async () => {
  let details: { sessionToken?: string } = {};
  const target = createServer((req, res) => {
    let text = '';
    req.on('data', (chunk) => (text += String(chunk)));
    req.on('end', () => {
      ({ details } = JSON.parse(text) as { details: typeof details });
      res.end('{"url":"https://games.example.test/"}');
    });
  });
  const { service, sql, ann } = await startWithGameServer(await serve(target));
  await using _ = service;
  const [playerId, other] = [await addPlayer(sql), await addPlayer(sql)];
  const order = { playerId, gameCode: 'dice-alpha', countryCode: 'DE' };
  expect((await ann.post('/v1/launches', order)).body['launchUrl']).toBe('https://games.example.test/');
  const { sessionToken } = details;
  expect((await callerOf(service, playerId).debit({ sessionToken })).status).toBe('OK');
  expect((await callerOf(service, other).debit({ sessionToken })).status).toBe('ERROR_INVALID_SESSION');
  expect(JSON.stringify([...(await sql`select * from sessions`)])).not.toContain(sessionToken);
  expect(service.lines.join('')).not.toContain(sessionToken);
});

import { createServer, type RequestListener, type Server } from 'node:http';
import { freePort } from '@platform/local/ports';
import { listen } from '@platform/service-kit/service';
import { expect, onTestFinished, test } from 'vitest';
import { addGame, addPlayer, callerOf } from '../../test/factories.ts';
import { keys, secret, startService } from '../../test/harness.ts';
import { person } from '../../test/people.ts';
import { createRequestSignatures } from '@platform/auth/hmac';
import { createStandIn } from '../stand-in/server.ts';
import { createGameServer } from './game-server.ts';

const serve = async (server: Server, port = 0): Promise<string> => {
  const address = await listen(server, '127.0.0.1', port);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${address.port}`;
};

/** A service and a stand-in that know each other. */
const startBoth = async (gameServerUrl?: string) => {
  let operatorUrl = '';
  const target = createServer((req, res) => {
    const standIn = createStandIn({ operatorUrl, secret, operatorId: 'op-1' });
    standIn.emit('request', req, res);
  });
  const url = gameServerUrl ?? (await serve(target));
  const service = await startService({ variables: { GAME_SERVER_URL: url, OPERATOR_ID: 'op-1' } });
  operatorUrl = service.url;
  const { sql } = service.context.database;
  await addGame(sql);
  return { service, sql, ann: await person(service), target };
};

test('a launch opens a session here and the game there', async () => {
  const { service, sql, ann } = await startBoth();
  await using _ = service;
  const playerId = await addPlayer(sql);
  const order = { playerId, gameCode: 'dice-alpha', countryCode: 'DE' };
  const made = await ann.post('/v1/launches', order);
  expect(made).toMatchObject({
    status: 201,
    body: {
      playerId,
      launchUrl: expect.stringContaining('dice-alpha'),
      gameServer: { sessionToken: expect.any(String) },
    },
  });
  const { launchId, createdAt, expiresAt } = made.body;
  // The address that opens the game is returned only once.
  expect(await ann.get(made.location ?? '')).toMatchObject({
    status: 200,
    body: { launchId, playerId, gameCode: 'dice-alpha', createdAt, expiresAt },
  });
  const { body: record } = await ann.get(made.location ?? '');
  expect(Object.keys(record)).not.toContain('launchUrl');
  expect((await ann.get('/v1/launches/0198c0de-0000-7000-8000-000000000000')).status).toBe(404);
  expect(await sql`select player_id, game_code from sessions`).toEqual([
    { player_id: playerId, game_code: 'dice-alpha' },
  ]);
});

test('a launch is refused here for what we know, and there for what it finds out', async () => {
  const { service, sql, ann } = await startBoth();
  await using _ = service;
  await addGame(sql, 'off', false);
  const order = { gameCode: 'dice-alpha', countryCode: 'DE' };
  const refusal = async (playerId: string, more: object = {}) => {
    const { status, body } = await ann.post('/v1/launches', { ...order, playerId, ...more });
    return `${status} ${String(body['code'])}`;
  };
  const good = await addPlayer(sql);
  expect(await refusal('nobody')).toBe('404 not_found');
  expect(await refusal(good, { gameCode: 'none' })).toBe('404 not_found');
  expect(await refusal(good, { gameCode: 'off' })).toBe('422 game_disabled');
  expect(await refusal(good, { countryCode: undefined })).toBe('422 country_unknown');
  expect(await refusal(await addPlayer(sql, { status: 'disabled' }))).toBe('422 player_disabled');
  expect(await refusal(await addPlayer(sql, { excluded: true }))).toBe('422 player_self_excluded');
});

test('a launch forgets sessions that ended more than a day ago', async () => {
  const { service, sql, ann } = await startBoth();
  await using _ = service;
  const playerId = await addPlayer(sql);
  for (const [token, hours] of [
    ['old', 25],
    ['late', 23],
  ] as const)
    await sql`insert into sessions values (${token}, ${playerId}, 'dice-alpha', now(), now() - ${`${hours} hours`}::interval)`;
  expect(
    (await ann.post('/v1/launches', { playerId, gameCode: 'dice-alpha', countryCode: 'DE' })).status,
  ).toBe(201);
  const left = await sql<{ token: string }[]>`select token_hash as token from sessions order by expires_at`;
  expect(left.map(({ token }) => token)).toEqual(['late', expect.stringMatching(/^[\da-f]{64}$/)]);
});

const respond =
  (status: number, body: string): RequestListener =>
  (_req, res) => {
    res.statusCode = status;
    res.end(body);
  };
const silent: RequestListener = () => undefined;
const cutOff: RequestListener = (_req, res) => {
  res.writeHead(200, { 'Content-Length': 100 });
  res.write('{"currencies":["EUR"');
  setImmediate(() => res.destroy());
};

const bad: [string, RequestListener, string][] = [
  ['says no', respond(403, '{"code":"geo_blocked"}'), '422 game_server_refused'],
  ['fails', respond(500, 'oops'), '503 game_server_unavailable'],
  ['answers nonsense', respond(200, '<html>'), '503 game_server_unavailable'],
  ['answers another kind of JSON', respond(200, '"EUR"'), '503 game_server_unavailable'],
  ['redirects', respond(302, ''), '503 game_server_unavailable'],
  ['does not answer in time', silent, '503 game_server_unavailable'],
  ['cuts its answer off', cutOff, '503 game_server_unavailable'],
];

/** A service that gives the game server so much time. */
const startBeside = async (url: string, limitMs = 60_000, variables = {}) => {
  const signatures = createRequestSignatures({ secrets: { current: secret } });
  const gameServer = createGameServer({ url, operatorId: 'op-1', signatures, limitMs });
  const service = await startService({
    variables: { GAME_SERVER_URL: url, OPERATOR_ID: 'op-1', ...variables },
    overrides: { gameServer },
  });
  await addGame(service.context.database.sql);
  return { service, ann: await person(service) };
};

/** What a launch and the list of currencies answer. */
const codesOf = async ({ service, ann }: Awaited<ReturnType<typeof startBeside>>): Promise<string[]> => {
  const order = {
    playerId: await addPlayer(service.context.database.sql),
    gameCode: 'dice-alpha',
    countryCode: 'DE',
  };
  const answers = [await ann.post('/v1/launches', order), await ann.get('/v1/currencies')];
  return answers.map(({ status, body }) => `${status} ${String(body['code'])}`);
};

test.each(bad)('launches and currencies of a game server that %s', async (_name, listener, expected) => {
  const limitMs = listener === silent ? 200 : undefined;
  const both = await startBeside(await serve(createServer(listener)), limitMs);
  await using _ = both.service;
  expect(await codesOf(both)).toEqual([expected, expected]);
  // Whatever the game server does, the callbacks are served.
  const caller = callerOf(both.service, await addPlayer(both.service.context.database.sql));
  expect((await caller.debit()).status).toBe('OK');
});

test('launches and currencies of a game server that is down, and when it is back', async () => {
  const port = await freePort();
  const both = await startBeside(`http://127.0.0.1:${port}`);
  await using _ = both.service;
  const unavailable = '503 game_server_unavailable';
  expect(await codesOf(both)).toEqual([unavailable, unavailable]);
  await serve(createServer(respond(200, '{"currencies":["EUR"],"url":"https://games.example.test/"}')), port);
  expect(await codesOf(both)).toEqual(['201 undefined', '200 undefined']);
});

test('a game server that does not answer is given up after the limit, and then not asked for a while', async () => {
  let asked = 0;
  const url = await serve(
    createServer((req, res) => {
      asked += 1;
      silent(req, res);
    }),
  );
  const signatures = createRequestSignatures({ secrets: { current: secret } });
  const server = createGameServer({ url, operatorId: 'op', signatures, limitMs: 1000 });
  for (let call = 0; call < 8; call++)
    await expect(server.currencies()).rejects.toMatchObject({ status: 503, code: 'game_server_unavailable' });
  expect(asked).toBe(5);
});

test('more launches than may be in progress, held up by a slow game server, keep no callbacks out', async () => {
  const held = Promise.withResolvers<void>();
  let asked = 0;
  const slow = createServer(async (_req, res) => {
    asked += 1;
    await held.promise;
    res.end('{"url":"https://games.example.test/"}');
  });
  const { service, ann } = await startBeside(await serve(slow), undefined, { MAX_IN_PROGRESS: '4' });
  await using _ = service;
  const playerId = await addPlayer(service.context.database.sql);
  const order = { playerId, gameCode: 'dice-alpha', countryCode: 'DE' };
  const launches = Array.from({ length: 12 }, () => ann.post('/v1/launches', order));
  await expect.poll(() => asked).toBe(launches.length);
  const caller = callerOf(service, playerId);
  const answers = new Set<string>();
  // Longer than requests have to stay in progress until others are refused.
  const until = performance.now() + 300;
  for (let sent = 0; sent < 20 || performance.now() < until; sent++) {
    const { http, status } = await caller.authenticate();
    answers.add(`${http} ${status}`);
  }
  expect([...answers]).toEqual(['200 OK']);
  held.resolve();
  for (const { status } of await Promise.all(launches)) expect(status).toBe(201);
});

test('a game server that is slow has at most 200 calls in progress, and the next one fails at once', async () => {
  const held = Promise.withResolvers<void>();
  let asked = 0;
  const slow = createServer(async (_req, res) => {
    asked += 1;
    await held.promise;
    res.end('["EUR"]');
  });
  const signatures = createRequestSignatures({ secrets: { current: secret } });
  const server = createGameServer({ url: await serve(slow), operatorId: 'op', signatures, limitMs: 60_000 });
  const calls = Array.from({ length: 200 }, () => server.currencies());
  await expect.poll(() => asked).toBe(200);
  await expect(server.currencies()).rejects.toMatchObject({ status: 503, code: 'game_server_unavailable' });
  held.resolve();
  expect(new Set((await Promise.all(calls)).flat())).toEqual(new Set(['EUR']));
});

test('without a game server launches say so', async () => {
  await using service = await startService();
  const ann = await person(service);
  expect(await ann.get('/v1/currencies')).toMatchObject({ status: 503, body: { code: 'no_game_server' } });
});

test('currencies are kept, and the last good copy is given while the game server is away', async () => {
  let now = new Date();
  let away = false;
  let asked = 0;
  const target = createServer((_req, res) => {
    asked += 1;
    res.statusCode = away ? 500 : 200;
    res.end('{"currencies":["EUR",{"code":"CNY"}]}');
  });
  const url = await serve(target);
  await using service = await startService({
    variables: { GAME_SERVER_URL: url, OPERATOR_ID: 'op' },
    overrides: { now: () => now },
  });
  const token = await keys.token({ scope: 'wallet:admin', now });
  const get = async () =>
    (await fetch(`${service.url}/v1/currencies`, { headers: { Authorization: `Bearer ${token}` } })).json();
  await expect.poll(() => service.context.redis?.status).toBe('ready');
  const good = { currencies: ['EUR', 'CNY'], fetchedAt: now.toISOString(), stale: false };
  expect(await get()).toEqual(good);
  expect(await get()).toEqual(good);
  expect(asked).toBe(1);
  now = new Date(now.getTime() + 400_000);
  away = true;
  expect(await get()).toEqual({ ...good, stale: true });
  // A process that was not there yet when the game server last answered.
  await using other = await startService({
    variables: { GAME_SERVER_URL: url, OPERATOR_ID: 'op' },
    overrides: { now: () => now },
  });
  await expect.poll(() => other.context.redis?.status).toBe('ready');
  const elsewhere = await fetch(`${other.url}/v1/currencies`, {
    headers: { Authorization: `Bearer ${await keys.token({ scope: 'wallet:admin' })}` },
  });
  expect(await elsewhere.json()).toEqual({ ...good, stale: true });
  for (const nonsense of ['{', 'null', '{"currencies":["XXX"],"fetchedAt":"soon"}']) {
    await service.context.redis?.set(`wallet-operator:currencies:${url}`, nonsense);
    expect(await get()).toEqual({ ...good, stale: true });
  }
});

test('the session of a launch is good for the bets of its player, and of nobody else', async () => {
  let details: { sessionToken?: string } = {};
  const target = createServer((req, res) => {
    let text = '';
    req.on('data', (chunk) => (text += String(chunk)));
    req.on('end', () => {
      ({ details } = JSON.parse(text) as { details: typeof details });
      res.end('{"url":"https://games.example.test/"}');
    });
  });
  const { service, sql, ann } = await startBoth(await serve(target));
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

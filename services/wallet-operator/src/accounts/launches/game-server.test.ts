import { createServer, type RequestListener } from 'node:http';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import { freePort } from '@platform/local/ports';
import { expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from '../../../test/factories.ts';
import { keys, secret, startService } from '../../../test/harness.ts';
import { person } from '../../../test/people.ts';
import { serve } from '../../../test/serve.ts';
import { createGameServer } from './game-server.ts';

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

const faultyServers: [name: string, listener: RequestListener, expected: string][] = [
  ['refuses', respond(403, '{"code":"geo_blocked"}'), '422 game_server_refused'],
  ['fails', respond(500, 'oops'), '503 game_server_unavailable'],
  ['answers with invalid JSON', respond(200, '<html>'), '503 game_server_unavailable'],
  ['answers with unexpected JSON', respond(200, '"EUR"'), '503 game_server_unavailable'],
  ['redirects', respond(302, ''), '503 game_server_unavailable'],
  ['does not answer in time', silent, '503 game_server_unavailable'],
  ['truncates its answer', cutOff, '503 game_server_unavailable'],
];

/** Starts a service that uses the game server at `url`; a call may take `limitMs`. */
const startWithGameServer = async (url: string, limitMs = 60_000, variables = {}) => {
  const signatures = createRequestSignatures({ secrets: { current: secret } });
  const gameServer = createGameServer({ url, operatorId: 'op-1', signatures, limitMs });
  const service = await startService({
    variables: { GAME_SERVER_URL: url, OPERATOR_ID: 'op-1', ...variables },
    overrides: { gameServer },
  });
  await addGame(service.context.database.sql);
  return { service, ann: await person(service) };
};

/** The status and problem code of a launch, and of the list of currencies. */
const codesOf = async ({
  service,
  ann,
}: Awaited<ReturnType<typeof startWithGameServer>>): Promise<string[]> => {
  const order = {
    playerId: await addPlayer(service.context.database.sql),
    gameCode: 'dice-alpha',
    countryCode: 'DE',
  };
  const answers = [await ann.post('/v1/launches', order), await ann.get('/v1/currencies')];
  return answers.map(({ status, body }) => `${status} ${String(body['code'])}`);
};

test.each(faultyServers)(
  'launches and currencies fail when the game server %s',
  async (_name, listener, expected) => {
    const limitMs = listener === silent ? 200 : undefined;
    const both = await startWithGameServer(await serve(createServer(listener)), limitMs);
    await using _ = both.service;
    expect(await codesOf(both)).toEqual([expected, expected]);
    // Callbacks do not depend on the game server.
    const caller = callerOf(both.service, await addPlayer(both.service.context.database.sql));
    expect((await caller.debit()).status).toBe('OK');
  },
);

test('launches and currencies fail while the game server is down, and work again when it is back', async () => {
  const port = await freePort();
  const both = await startWithGameServer(`http://127.0.0.1:${port}`);
  await using _ = both.service;
  const unavailable = '503 game_server_unavailable';
  expect(await codesOf(both)).toEqual([unavailable, unavailable]);
  await serve(createServer(respond(200, '{"currencies":["EUR"],"url":"https://games.example.test/"}')), port);
  expect(await codesOf(both)).toEqual(['201 undefined', '200 undefined']);
});

test('a call to a silent game server times out, and after five timeouts no calls are sent for a while', async () => {
  let calls = 0;
  const url = await serve(
    createServer((req, res) => {
      calls += 1;
      silent(req, res);
    }),
  );
  const signatures = createRequestSignatures({ secrets: { current: secret } });
  const server = createGameServer({ url, operatorId: 'op', signatures, limitMs: 1000 });
  for (let attempt = 0; attempt < 8; attempt++)
    await expect(server.currencies()).rejects.toMatchObject({ status: 503, code: 'game_server_unavailable' });
  expect(calls).toBe(5);
});

test('launches that wait for a slow game server do not count in MAX_IN_PROGRESS and do not block callbacks', async () => {
  const held = Promise.withResolvers<void>();
  let asked = 0;
  const slow = createServer(async (_req, res) => {
    asked += 1;
    await held.promise;
    res.end('{"url":"https://games.example.test/"}');
  });
  const { service, ann } = await startWithGameServer(await serve(slow), undefined, { MAX_IN_PROGRESS: '4' });
  await using _ = service;
  const { sql } = service.context.database;
  const players = await Promise.all(Array.from({ length: 12 }, () => addPlayer(sql)));
  const launches = players.map((playerId) =>
    ann.post('/v1/launches', { playerId, gameCode: 'dice-alpha', countryCode: 'DE' }),
  );
  await expect.poll(() => asked).toBe(launches.length);
  const caller = callerOf(service, players[0] ?? '');
  const answers = new Set<string>();
  // Requests in progress for this long would make the service refuse others.
  const until = performance.now() + 300;
  for (let sent = 0; sent < 20 || performance.now() < until; sent++) {
    const { http, status } = await caller.authenticate();
    answers.add(`${http} ${status}`);
  }
  expect([...answers]).toEqual(['200 OK']);
  held.resolve();
  for (const { status } of await Promise.all(launches)) expect(status).toBe(201);
});

test('at most 200 calls to a slow game server are in progress; the next one fails immediately', async () => {
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

test('currencies are cached, and the cached list is returned while the game server is unavailable', async () => {
  let now = new Date();
  let isDown = false;
  let asked = 0;
  const target = createServer((_req, res) => {
    asked += 1;
    res.statusCode = isDown ? 500 : 200;
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
  const list = { currencies: ['EUR', 'CNY'], fetchedAt: now.toISOString(), stale: false };
  expect(await get()).toEqual(list);
  expect(await get()).toEqual(list);
  expect(asked).toBe(1);
  now = new Date(now.getTime() + 400_000);
  isDown = true;
  expect(await get()).toEqual({ ...list, stale: true });
  // A process that started after the last answer of the game server has only the list in Redis.
  await using other = await startService({
    variables: { GAME_SERVER_URL: url, OPERATOR_ID: 'op' },
    overrides: { now: () => now },
  });
  await expect.poll(() => other.context.redis?.status).toBe('ready');
  const otherAnswer = await fetch(`${other.url}/v1/currencies`, {
    headers: { Authorization: `Bearer ${await keys.token({ scope: 'wallet:admin' })}` },
  });
  expect(await otherAnswer.json()).toEqual({ ...list, stale: true });
  for (const invalid of ['{', 'null', '{"currencies":["XXX"],"fetchedAt":"soon"}']) {
    await service.context.redis?.set(`wallet-operator:currencies:${url}`, invalid);
    expect(await get()).toEqual({ ...list, stale: true });
  }
});

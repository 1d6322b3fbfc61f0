import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AUDIENCE, openSigner } from '@platform/local/keys';
import { platformPorts, startPlatform, type StartedPlatform } from '@platform/local/platform';
import type {} from '@platform/local/provided';
import { readStack } from '@platform/local/stack-file';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';

const repository = join(import.meta.dirname, '../../../..');
const secrets = { first: 'secret of the first cell', b: 'secret of the cell b' };

/** Copies the repository and adds a cell to two services; gateway and services read services.yaml of the copy. */
const copyWithCells = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'cells-'));
  for (const name of ['docs', 'infra', 'packages', 'services', 'package.json'])
    cpSync(join(repository, name), join(folder, name), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !/\/(?:\.local|dist|test)$/.test(source),
    });
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  const list = readFileSync(join(repository, 'services.yaml'), 'utf8');
  writeFileSync(
    join(folder, 'services.yaml'),
    list.replaceAll(/^(?:store-webhooks|wallet-operator):\n/gm, '$&  cells: [b]\n'),
  );
  // PostgreSQL runs as another user when root runs the tests.
  chmodSync(folder, 0o755);
  return folder;
};

describe.runIf(inject('nginxPath') && inject('redisUrl'))('a platform with a cell', () => {
  let folder: string;
  let platform: StartedPlatform;
  let gateway: string;
  const tokens = { first: '', b: '' };

  beforeAll(async () => {
    folder = copyWithCells();
    const local = join(folder, '.local');
    const ports = await platformPorts(1);
    platform = startPlatform({
      local,
      root: folder,
      env: {
        ...ports,
        WALLET_OPERATOR_HMAC_SECRET: secrets.first,
        WALLET_OPERATOR_B_HMAC_SECRET: secrets.b,
      },
    });
    await platform.ready();
    gateway = (await readStack(local))?.gateway ?? '';
    const signer = await openSigner(join(local, 'keys'));
    const claims = { scope: 'stores:admin wallet:admin', subject: 'tester', ttl: '1h' };
    tokens.first = await signer.sign(claims);
    tokens.b = await signer.sign({ ...claims, audience: [`${AUDIENCE}/cells/b`] });
  }, 900_000);
  afterAll(async () => {
    await platform[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = async (path: string, token: string, body?: object) => {
    const response = await fetch(gateway + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      location: response.headers.get('Location'),
      body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
    };
  };

  test('a webhook of a store in a cell is processed there, and the first cell knows neither store nor order', async () => {
    const input = { name: 'Bakery', storeUrl: 'https://bakery.example/', pos: { kind: 'generic' } };
    const created = await ask('/cells/b/v1/stores', tokens.b, input);
    const { id, webhookUrls } = created.body as { id: string; webhookUrls: Record<string, string> };
    const url = String(webhookUrls['order_updated']);
    expect(created).toMatchObject({ status: 201, location: `/cells/b/v1/stores/${id}` });
    expect(url.startsWith(`${gateway}/cells/b/api/v1/hooks/order_updated/`)).toBe(true);

    const feed = '/v1/feeds/store-webhooks/orders';
    const cursor = String((await ask(`/cells/b${feed}`, tokens.b)).body['next']);
    const event = JSON.stringify({ id: 'order-1', status: 'PENDING' });
    const send = (address: string) =>
      fetch(address, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: event });
    expect((await send(url)).status).toBe(200);
    const order = async () => (await ask(`/cells/b/v1/stores/${id}/orders/order-1`, tokens.b)).status;
    await expect.poll(order).toBe(200);
    const { changes } = (await ask(`/cells/b${feed}?after=${cursor}`, tokens.b)).body;
    expect(changes).toMatchObject([{ id: `${id}/order-1`, action: 'created' }]);
    expect((await ask(`${feed}?after=${cursor}`, tokens.first)).body['code']).toBe('cursor_unknown');

    expect((await send(url.replace('/cells/b', ''))).status).toBe(404);
    expect((await ask(`/v1/stores/${id}`, tokens.first)).status).toBe(404);
    const { body } = await ask('/v1/stores?limit=200', tokens.first);
    expect(JSON.stringify(body)).not.toContain(id);
  });

  test('a debit that is signed for the address of a cell is booked there, and not in the first cell', async () => {
    const playerId = `player-${randomUUID()}`;
    for (const [prefix, token, amount] of [
      ['', tokens.first, '5.00'],
      ['/cells/b', tokens.b, '100.00'],
    ] as const) {
      const player = { playerId, currency: 'EUR', countryCode: 'DE' };
      expect((await ask(`${prefix}/v1/players`, token, player)).status).toBe(201);
      const deposit = { transactionId: randomUUID(), amount };
      expect((await ask(`${prefix}/v1/players/${playerId}/deposits`, token, deposit)).status).toBe(201);
    }
    expect((await ask('/cells/b/v1/games', tokens.b, { gameCode: 'game', name: 'A game' })).status).toBe(201);
    const call = async (secret: string, path: string, request: object, signedPath = path) => {
      const body = Buffer.from(JSON.stringify({ requestId: 'r', playerId, ...request }));
      const { headers } = createRequestSignatures({ secrets: { current: secret } });
      const fields = { 'Content-Type': 'application/json', ...headers(signedPath, body) };
      const response = await fetch(gateway + path, { method: 'POST', headers: fields, body });
      return (await response.json()) as { status: string; balance?: string };
    };
    const debit = {
      transactionId: randomUUID(),
      roundId: randomUUID(),
      gameCode: 'game',
      amount: '30.00',
    };
    expect(await call(secrets.b, '/cells/b/callback/debit', debit)).toMatchObject({
      status: 'OK',
      balance: '70.00',
    });
    expect(await call(secrets.first, '/callback/balance', {})).toMatchObject({
      status: 'OK',
      balance: '5.00',
    });
    for (const refused of [
      call(secrets.b, '/cells/b/callback/balance', {}, '/callback/balance'),
      call(secrets.first, '/cells/b/callback/balance', {}),
      call(secrets.b, '/callback/balance', {}, '/cells/b/callback/balance'),
    ])
      expect(await refused).toMatchObject({ status: 'ERROR_INVALID_SIGNATURE' });
  });

  test('tokens of one cell are refused by the other, and the demo token is accepted by both', async () => {
    const admin = String((await readStack(join(folder, '.local')))?.demo['adminToken']);
    for (const path of ['/v1/stores', '/v1/players'])
      for (const [prefix, accepted, refused] of [
        ['', tokens.first, tokens.b],
        ['/cells/b', tokens.b, tokens.first],
      ] as const) {
        expect((await ask(prefix + path, accepted)).status).toBe(200);
        expect((await ask(prefix + path, refused)).status).toBe(401);
        expect((await ask(prefix + path, admin)).status).toBe(200);
      }
  });

  test('the OpenAPI document of a cell names its address, and an unknown cell is 404', async () => {
    for (const [service, path] of [
      ['store-webhooks', '/v1/stores'],
      ['wallet-operator', '/v1/players'],
    ] as const) {
      const { body } = await ask(`/cells/b/openapi/${service}.json`, '');
      const [server] = body['servers'] as { url: string }[];
      expect(server?.url.startsWith(`${gateway}/cells/b`)).toBe(true);
      expect((await ask(`/cells/c${path}`, tokens.b)).status).toBe(404);
    }
  });

  test('compose and chart include a cell with its own secrets, database, Redis keys and volume', () => {
    const run = (program: string, ...args: string[]) =>
      execFileSync(process.execPath, [join(folder, 'infra/deploy/src', program), ...args]);
    run('generate.ts');
    run('generate.ts', '--check');
    const compose = readFileSync(join(folder, 'infra/deploy/compose.yaml'), 'utf8');
    const cell = compose.slice(
      compose.indexOf('  wallet-operator-b:'),
      compose.indexOf('  verify-projects-migrate:'),
    );
    for (const line of [
      'image: ${REGISTRY:-platform}/wallet-operator:${WALLET_OPERATOR_TAG:-latest}',
      "AUTH_AUDIENCE: '${AUTH_AUDIENCE:-platform}/cells/b'",
      "PUBLIC_URL: '${PUBLIC_URL:-http://127.0.0.1:8080}/cells/b'",
      'DATABASE_SCHEMA: wallet_operator_b',
      'SIGNATURE_PATH_PREFIX: /cells/b',
      'HMAC_SECRET_FILE: /run/secrets/wallet-operator-b-hmac-secret',
      'REDIS_URL_FILE: /run/secrets/wallet-operator-b-redis-url',
    ])
      expect(cell).toContain(line);
    expect(compose).toContain('\n  spool-b: {}\n');

    const prepared = join(folder, 'prepared');
    run('prepare.ts', '--out', prepared);
    const secret = (name: string) => readFileSync(join(prepared, 'secrets', name), 'utf8');
    expect(secret('wallet-operator-b-redis-url')).toBe(`${secret('redis-url')}/1`);
    expect(secret('wallet-operator-b-database-url')).toMatch(/@postgres:5432\/wallet_operator_b$/);
    expect(secret('wallet-operator-b-hmac-secret')).not.toBe(secret('hmac-secret'));
  });
});

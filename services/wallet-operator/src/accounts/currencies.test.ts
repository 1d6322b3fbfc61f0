import { serve } from '@platform/service-kit/testing';
import { expect, test, vi } from 'vitest';
import { startService } from '../../test/harness.ts';
import { person } from '../../test/people.ts';

const statusOf = async (ann: Awaited<ReturnType<typeof person>>, currency: string) => {
  const { status, body } = await ann.post('/v1/players', { playerId: `in-${currency}`, currency });
  return status === 201 ? [status, body['currency']] : [status, body['code']];
};

test('a player whose amounts cannot be booked with two decimals is refused', async () => {
  await using service = await startService();
  const ann = await person(service);
  for (const currency of ['KWD', 'BHD', 'IQD', 'CLF', 'BTC', 'USDT'])
    expect(await statusOf(ann, currency)).toEqual([422, 'currency_not_supported']);
  for (const [currency, storedCurrency] of [
    ['EUR', 'EUR'],
    ['JPY', 'JPY'],
    ['RMB', 'CNY'],
  ] as const)
    expect(await statusOf(ann, currency)).toEqual([201, storedCurrency]);
});

test("a new player's currency must be on the game server's list once it was fetched; RMB counts as CNY", async () => {
  await using gameServer = await serve((_req, res) => {
    res.setHeader('Content-Type', 'application/json').end('{"currencies":["EUR","RMB","KWD"]}');
  });
  await using service = await startService({
    variables: { GAME_SERVER_URL: gameServer.url, OPERATOR_ID: 'op-1' },
  });
  const ann = await person(service);
  expect(await statusOf(ann, 'SEK')).toEqual([201, 'SEK']);
  expect((await ann.get('/v1/currencies')).status).toBe(200);
  for (const currency of ['NOK', 'KWD'])
    expect(await statusOf(ann, currency)).toEqual([422, 'currency_not_supported']);
  expect(await statusOf(ann, 'CNY')).toEqual([201, 'CNY']);
  expect(await statusOf(ann, 'EUR')).toEqual([201, 'EUR']);
});

test.each(['[]', '["eur","usd"]'])(
  'a list of currencies without any ISO 4217 code (%s) is ignored',
  async (list) => {
    await using gameServer = await serve((_req, res) => res.end(list));
    await using service = await startService({
      variables: { GAME_SERVER_URL: gameServer.url, OPERATOR_ID: 'op-1' },
    });
    const ann = await person(service);
    expect((await ann.get('/v1/currencies')).status).toBe(200);
    expect(await statusOf(ann, 'EUR')).toEqual([201, 'EUR']);
  },
);

test('a list of currencies is used for a day, and is read outside of transactions', async () => {
  await using gameServer = await serve((_req, res) => res.end('["EUR"]'));
  await using service = await startService({
    variables: { GAME_SERVER_URL: gameServer.url, OPERATOR_ID: 'op-1' },
  });
  const { context } = service;
  const ann = await person(service);
  expect((await ann.get('/v1/currencies')).status).toBe(200);
  // The pool rejects this statement if the caller has an open transaction.
  const get = vi.fn<() => Promise<null>>(async () => {
    await context.database.sql`select 1`;
    return null;
  });
  context.redis = { status: 'ready', get } as unknown as NonNullable<typeof context.redis>;
  expect(await statusOf(ann, 'SEK')).toEqual([422, 'currency_not_supported']);
  await expect(get.mock.results[0]?.value).resolves.toBeNull();
  context.redis = undefined;
  const dayLater = new Date(Date.now() + 25 * 3_600_000);
  context.now = () => dayLater;
  expect(await statusOf(ann, 'SEK')).toEqual([201, 'SEK']);
});

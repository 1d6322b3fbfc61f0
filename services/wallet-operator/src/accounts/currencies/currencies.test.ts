import { serve } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { startService } from '../../../test/harness.ts';
import { person } from '../../../test/people.ts';

const statusOf = async (ann: Awaited<ReturnType<typeof person>>, currency: string) => {
  const { status, body } = await ann.post('/v1/players', { playerId: `in-${currency}`, currency });
  return status === 201 ? [status, body['currency']] : [status, body['code']];
};

test('a player whose amounts cannot be booked with two decimals is refused', async () => {
  await using service = await startService();
  const ann = await person(service);
  for (const currency of ['KWD', 'BHD', 'CLF', 'BTC', 'USDT'])
    expect(await statusOf(ann, currency)).toEqual([422, 'currency_not_supported']);
  for (const [currency, kept] of [
    ['EUR', 'EUR'],
    ['JPY', 'JPY'],
    ['RMB', 'CNY'],
  ] as const)
    expect(await statusOf(ann, currency)).toEqual([201, kept]);
});

test("a player's currency is on the game server's list as soon as that is known, RMB being CNY", async () => {
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

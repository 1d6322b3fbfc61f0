import { expect, test } from 'vitest';
import { jsonLines } from '@platform/wallet-conformance/game-server/statement';
import {
  ago,
  alone,
  apply,
  bearer,
  dryRun,
  entriesOf,
  getJson,
  lineOf,
  missingRound,
  reconcile,
  repair,
  repairAll,
  sendStatement,
  shortly,
  type Found,
} from './reconciliations.ts';

const withdraw = async (url: string, id: string, scope?: string): Promise<number> => {
  const headers = await bearer(scope);
  const answer = await fetch(`${url}/v1/reconciliations/${id}`, { method: 'DELETE', headers });
  return answer.status;
};

test('a wrong statement that is withdrawn keeps no repairs waiting, and none are made from it', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const [playerId = ''] = players;
  const mistaken = lineOf({ playerId, roundId: 'r', transactionId: 'wrong column', time: ago(10) });
  const { reconciliationId: wrong } = await reconcile(url, [mistaken]);
  const { dryRunId } = await dryRun(url, wrong, [1]);
  const { reconciliationId: right } = await reconcile(url, missingRound(playerId));
  const waits = [{ number: 2, status: 'OK' }, { reason: 'earlier_first' }];
  expect((await dryRun(url, right, [1, 2])).repairs).toMatchObject(waits);
  // The second time changes nothing.
  for (const _time of [1, 2]) expect(await withdraw(url, wrong)).toBe(204);
  expect(await getJson(url, `/v1/reconciliations/${wrong}`)).toMatchObject({
    status: 'failed',
    failure: 'withdrawn',
    differences: 1,
  });
  for (const refused of [await dryRun(url, wrong, [1]), await apply(url, wrong, dryRunId)])
    expect(refused).toMatchObject({ status: 409, code: 'failed' });
  expect((await repair(url, right, [1, 2], false)).repairs).toMatchObject([
    { state: 'applied' },
    { state: 'applied' },
  ]);
  expect(await entriesOf(own)).toEqual(['bet', 'win']);
  const events = await own.context.database
    .sql`select details from audit_events where kind = 'reconciliation_withdrawn'`;
  expect(events).toEqual([{ details: { by: 'ann', reconciliationId: wrong } }]);
});

test('what was repaired from a withdrawn reconciliation is still known as repaired', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const lines = [lineOf({ playerId: players[0] ?? '', transactionId: 'bet', time: ago(1800) })];
  const found = await reconcile(url, lines);
  await repairAll(url, found);
  expect(await withdraw(url, found.reconciliationId)).toBe(204);
  expect(shortly(await reconcile(url, lines, { from: ago(1860), to: ago(1740) }))).toEqual([]);
});

test('a statement is withdrawn while it is sent', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const part = new TextEncoder().encode(jsonLines([lineOf({ playerId: players[0] ?? '' })]));
  const { promise: withdrawn, resolve } = Promise.withResolvers<undefined>();
  const body = new ReadableStream({
    start: (stream) => stream.enqueue(part),
    pull: async (stream) => {
      await withdrawn;
      stream.enqueue(part);
      stream.close();
    },
  });
  const sent = sendStatement(url, body);
  const list = () => getJson<{ reconciliations: Found[] }>(url, '/v1/reconciliations');
  await expect.poll(async () => (await list()).reconciliations.length).toBe(1);
  const reconciliationId = (await list()).reconciliations[0]?.reconciliationId ?? '';
  expect(await withdraw(url, reconciliationId)).toBe(204);
  resolve(undefined);
  expect(await sent).toMatchObject({ status: 409, body: { code: 'interrupted' } });
  const path = `/v1/reconciliations/${reconciliationId}`;
  expect(await getJson(url, path)).toMatchObject({ status: 'failed', failure: 'withdrawn' });
});

test('only who applies repairs withdraws a reconciliation, and one that nobody knows is 404', async () => {
  const { own, players, url } = await alone();
  await using _ = own;
  const { reconciliationId } = await reconcile(url, [lineOf({ playerId: players[0] ?? '' })]);
  expect(await withdraw(url, reconciliationId, 'wallet:read wallet:approve')).toBe(403);
  expect(await withdraw(url, '0199b5a0-0000-7000-8000-000000000000')).toBe(404);
  expect(await getJson(url, `/v1/reconciliations/${reconciliationId}`)).toMatchObject({ failure: null });
});

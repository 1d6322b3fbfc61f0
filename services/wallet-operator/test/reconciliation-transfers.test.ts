import { get, type IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { keys, startService } from './harness.ts';
import { sendStatement } from './reconciliations.ts';

test('downloads that are read slowly do not cause callbacks to be refused, and ten are open at most, two of a caller', async () => {
  await using service = await startService({ variables: { MAX_IN_PROGRESS: '4' } });
  const { sql } = service.context.database;
  await addGame(sql);
  const caller = callerOf(service, await addPlayer(sql));
  const [{ id }] = await sql<[{ id: string }]>`
    insert into reconciliations (created_at, created_by, period_from, period_to, tolerance_s, step, touched_at)
    values (now(), 'test', now(), now(), 0, 'ended', now()) returning reconciliation_id as id`;
  // More than sockets buffer.
  await sql`
    insert into reconciliation_differences (reconciliation_id, number, kind, player_id, transaction_id, repair)
    select ${id}, n, 'missing_here', 'p', repeat('x', 1000), 'ask_game_server' from generate_series(1, 20000) n`;
  const download = async (format: string, sub = 'somebody') => {
    const headers = { Authorization: `Bearer ${await keys.token({ scope: 'wallet:read', sub })}` };
    return new Promise<IncomingMessage>((resolve, reject) => {
      const url = `${service.url}/v1/reconciliations/${id}/differences.${format}`;
      get(url, { headers, agent: false }, resolve).on('error', reject);
    });
  };
  const open: IncomingMessage[] = [];
  for (let at = 0; at < 5; at++) {
    for (const format of ['csv', 'jsonl']) open.push(await download(format, `caller ${at}`));
    const third = await download('csv', `caller ${at}`);
    expect(third.statusCode).toBe(503);
    third.destroy();
  }
  expect(open.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 10 }, () => 200));
  const refused = await download('csv');
  expect(refused.statusCode).toBe(503);
  for (let at = 0; at < 200; at++) expect((await caller.debit({ amount: '0.01' })).status).toBe('OK');
  for (const response of [...open, refused]) response.destroy();
  const next = async () => {
    const response = await download('jsonl');
    response.destroy();
    return response.statusCode;
  };
  await expect.poll(next).toBe(200);
});

test('lines that arrive slowly are stored as they arrive', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const stored = async () => (await sql<{ lines: number }[]>`select lines from reconciliations`)[0]?.lines;
  const line = (transactionId: string) =>
    Buffer.from(`${JSON.stringify({ transactionId, playerId: 'p', operation: 'credit', amount: '1.00' })}\n`);
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(line('first')),
    pull: async (stream) => {
      await expect.poll(stored).toBe(1);
      stream.enqueue(line('second'));
      await expect.poll(stored).toBe(2);
      stream.close();
    },
  });
  expect(await sendStatement(service.url, body)).toMatchObject({ status: 201, body: { lines: 2 } });
});

test('a client that breaks off its statement is no error of the service', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const line = JSON.stringify({ transactionId: 'a', playerId: 'p', operation: 'credit', amount: '1.00' });
  const body = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(Buffer.from(`${line}\n`)),
    pull: async (stream) => {
      await expect.poll(() => sql`select from reconciliations where lines = 1`).toHaveLength(1);
      stream.error(new Error('closed'));
    },
  });
  await expect(sendStatement(service.url, body)).rejects.toThrow('fetch failed');
  await expect.poll(() => service.lines.join('')).toContain('client went away');
  await service.context.database.sql`select`;
  expect(service.lines.join('')).not.toContain('internal_error');
});

test('of the five statements that may be open at a time, two of one caller may be on their way', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  const line = JSON.stringify({ transactionId: 'a', playerId: 'p', operation: 'credit', amount: '1.00' });
  const ends = Promise.withResolvers<void>();
  const slow = () =>
    sendStatement(
      service.url,
      new ReadableStream<Uint8Array>({
        start: (stream) => stream.enqueue(Buffer.from(`${line}\n`)),
        pull: async (stream) => {
          await ends.promise;
          stream.close();
        },
      }),
    );
  const sent = [slow(), slow()];
  await expect.poll(() => sql`select from reconciliations where lines = 1`).toHaveLength(2);
  const refused = await sendStatement(service.url, line);
  expect(refused).toMatchObject({ status: 409, body: { code: 'too_many_reconciliations' } });
  // As if the caller of one of them were another one.
  await sql`
    update reconciliations set created_by = 'another' where reconciliation_id =
      (select reconciliation_id from reconciliations limit 1)`;
  expect(await sendStatement(service.url, line)).toMatchObject({ status: 201 });
  ends.resolve();
  expect(await Promise.all(sent)).toMatchObject([{ status: 201 }, { status: 201 }]);
});

import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readStatement } from '../src/reconciliation/statement.ts';
import { addGame, addPlayer, callerOf } from './factories.ts';
import { keys, startService, type Running } from './harness.ts';
import { reconcile, sendStatement, shortly } from './reconciliations.ts';

let service: Running;
beforeAll(async () => {
  service = await startService();
  await addGame(service.context.database.sql);
});
afterAll(() => service[Symbol.asyncDispose]());

const good = { transactionId: 't', playerId: 'p', operation: 'credit', amount: '1.00' };
const jsonOf = (...lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

describe('a statement', () => {
  test('as CSV has any columns, in any order, with any names', async () => {
    const playerId = await addPlayer(service.context.database.sql, {}, 'Müller; "Jo"');
    const caller = callerOf(service, playerId);
    await caller.debit({ transactionId: 'csv,1', roundId: 'r', amount: '5.00' });
    const text = [
      '\ufeffKind;Note;Tx;Player;Stake;Booked at',
      `debit;"two\nlines";csv,1;"Müller; ""Jo""";5.00;${new Date().toISOString()}`,
      '',
      `debit;;csv-2;"Müller; ""Jo""";6.00;${new Date(Date.now() - 1000).toISOString()}`,
    ].join('\r\n');
    const columns = 'operation:Kind,transactionId:Tx,playerId:Player,amount:Stake,time:Booked at';
    const found = await reconcile(service.url, text, { columns, delimiter: ';' }, 'text/csv; charset=utf-8');
    expect(found).toMatchObject({ status: 'done', lines: 2 });
    expect(shortly(found)).toEqual(['missing_here csv-2']);
    // The line feed in quotes and the empty line count.
    expect(found.differences[0]?.there).toMatchObject({ line: 5, amount: '6.00', roundId: null });
  });

  test('that has no transaction is refused, because a file that was cut off has none either', async () => {
    const header = 'transactionId,playerId,operation,amount\n';
    for (const [text, type] of [
      ['', 'text/csv'],
      [header, 'text/csv'],
      ['\n', 'application/x-ndjson'],
    ] as const)
      expect(await sendStatement(service.url, text, {}, type)).toMatchObject({
        status: 400,
        body: { code: 'empty_statement' },
      });
  });

  test('is refused when its header, or the mapping of its columns, names a field twice', async () => {
    const text = 'transactionId,playerId,operation,amount,amount\nt,p,credit,1.00,100.00\n';
    expect(await sendStatement(service.url, text, {}, 'text/csv')).toMatchObject({
      status: 400,
      body: { errors: { amount: ['is twice in the header'] } },
    });
    const columns = 'amount:amount,amount:gross';
    expect(await sendStatement(service.url, jsonOf(good), { columns })).toMatchObject({
      status: 400,
      body: { code: 'validation_failed' },
    });
    // A column that is no field may have any name.
    const notes = 'transactionId,playerId,operation,amount,note,note\nt,p,credit,1.00,a,b\n';
    expect((await sendStatement(service.url, notes, {}, 'text/csv')).status).toBe(201);
  });

  test('names the first mistakes by line and column, and is refused as a whole', async () => {
    const lines = [
      good,
      { ...good, amount: '1,00' },
      { ...good, operation: 'bet' },
      { ...good, amount: undefined },
      { ...good, operation: 'rollback' },
      { ...good, time: '2026-11-01 12:00' },
      { ...good, playerId: 'a\u0000b' },
      { ...good, amount: -1 },
    ];
    const { status, body } = await sendStatement(service.url, `${jsonOf(...lines)}[]\nnonsense\n`);
    expect([status, body['code']]).toEqual([400, 'validation_failed']);
    expect(Object.keys(body['errors'] as object)).toEqual([
      'line 2, amount',
      'line 3, operation',
      'line 4, amount',
      'line 5, reverseTransactionId',
      'line 6, time',
      'line 7, playerId',
      'line 8, amount',
      'line 9',
      'line 10',
    ]);
    const many = await sendStatement(service.url, 'x\n'.repeat(5000));
    expect(Object.keys(many.body['errors'] as object)).toHaveLength(20);
  });

  test.each([
    ['a CSV without a needed column', 'transactionId,playerId\nt,p\n', 'text/csv', 'validation_failed'],
    [
      'a CSV line with too few columns',
      'transactionId,playerId,operation\nt,p\n',
      'text/csv',
      'malformed_statement',
    ],
    [
      'a CSV with an open quote',
      'transactionId,playerId,operation\nt,"p,debit\n',
      'text/csv',
      'malformed_statement',
    ],
    [
      'bytes that are not UTF-8',
      Buffer.from('\xff\n', 'latin1'),
      'application/x-ndjson',
      'malformed_statement',
    ],
    [
      'a line of 20,000 characters',
      `"${'x'.repeat(20_000)}"\n`,
      'application/x-ndjson',
      'malformed_statement',
    ],
  ])('refuses %s', async (_what, body, type, code) => {
    const refused = await sendStatement(service.url, body, {}, type);
    expect(refused).toMatchObject({ status: 400, body: { code } });
  });

  test.each([
    [{ columns: 'player:Player' }, 'columns'],
    [{ tolerance: '1e3' }, 'tolerance'],
    [{ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'to'],
    [{ from: '2026-01-01T00:00:00Z', to: '2026-03-01T00:00:00Z' }, 'to'],
    [{ to: new Date(Date.now() + 3_600_000).toISOString() }, 'to'],
    [{ from: 'yesterday' }, 'from'],
  ])('is not read with %j', async (query, name) => {
    const { status, body } = await sendStatement(service.url, '', query);
    expect([status, Object.keys(body['errors'] as object)]).toEqual([400, [name]]);
  });

  test('is refused when a column that is named is in no line or header', async () => {
    const misspelt = await sendStatement(service.url, jsonOf(good, good), { columns: 'time:Bookd' });
    expect(misspelt).toMatchObject({ status: 400, body: { errors: { Bookd: ['is in no line'] } } });
    const text = 'transactionId,playerId,operation\n';
    const polluting = await sendStatement(service.url, text, { columns: 'time:__proto__' }, 'text/csv');
    expect([polluting.status, polluting.body['code']]).toEqual([400, 'validation_failed']);
    const later = jsonOf(good, { ...good, Booked: new Date().toISOString() });
    expect((await sendStatement(service.url, later, { columns: 'time:Booked' })).status).toBe(201);
  });

  test('is read up to a number of bytes', async () => {
    const format = { type: 'application/x-ndjson', delimiter: ',', columns: {} } as const;
    const line = Buffer.from(jsonOf(good));
    const read = async (maxBytes: number) => {
      const lines: unknown[] = [];
      for await (const read of readStatement(Readable.from([line]), format, maxBytes)) lines.push(...read);
      return lines;
    };
    expect(await read(line.length)).toHaveLength(1);
    await expect(read(line.length - 1)).rejects.toMatchObject({ status: 413, code: 'statement_too_large' });
  });

  test('needs the scope of an administrator and one of the two media types', async () => {
    expect((await sendStatement(service.url, 'x', {}, 'application/json')).status).toBe(415);
    expect((await sendStatement(service.url, 'x', {}, 'text/csv; charset=latin1')).status).toBe(415);
    const path = '/v1/reconciliations?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z';
    const Authorization = `Bearer ${await keys.token({ scope: 'wallet:read' })}`;
    const answer = await fetch(service.url + path, { method: 'POST', headers: { Authorization }, body: 'x' });
    expect(answer.status).toBe(403);
  });

  test('that breaks off, or has a mistake, leaves no lines behind', async () => {
    const { sql } = service.context.database;
    const cut = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(Buffer.from(jsonOf(...Array.from({ length: 3000 }, () => good)))),
      pull: async (stream) => {
        await expect
          .poll(() => sql`select from reconciliations where step = 'receiving' and lines > 0`)
          .toHaveLength(1);
        stream.error(new Error('cut'));
      },
    });
    await expect(sendStatement(service.url, cut)).rejects.toThrow('fetch failed');
    await sendStatement(service.url, `${jsonOf(...Array.from({ length: 3000 }, () => good))}x\n`);
    const left = async () => {
      const [row] = await sql<{ open: number; lines: number }[]>`
        select (select count(*)::int from reconciliations where step <> 'ended') as open,
          (select count(*)::int from reconciliation_lines) as lines`;
      return row;
    };
    await expect.poll(left).toEqual({ open: 0, lines: 0 });
    const failures =
      await sql`select failure, lines > 0 as stored from reconciliations order by reconciliation_id desc limit 2`;
    expect(failures).toEqual([
      { failure: 'invalid_statement', stored: true },
      { failure: 'interrupted', stored: true },
    ]);
  });
});

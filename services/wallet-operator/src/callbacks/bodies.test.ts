import { createHmac, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addGame, addPlayer, callerOf } from '../../test/factories.ts';
import { call, secret, startService, type Running } from '../../test/harness.ts';
import { expectSoundLedger } from '../../test/proof.ts';

let service: Running;
let caller: ReturnType<typeof callerOf>;
beforeAll(async () => {
  service = await startService();
  await addGame(service.context.database.sql);
  caller = callerOf(service, await addPlayer(service.context.database.sql));
});
afterAll(async () => {
  await expectSoundLedger(service);
  await service[Symbol.asyncDispose]();
});

const wrongSyntax = { http: 200, status: 'ERROR_WRONG_SYNTAX' };

describe('a body', () => {
  const json = JSON.stringify({ requestId: 'r', playerId: 'nobody' });
  const bodies: [name: string, body: string | Buffer, requestId: string][] = [
    ['that is empty', '', ''],
    ['that is not JSON', '{"requestId": "r"', ''],
    ['that is an array', `[${json}]`, ''],
    ['that is null', 'null', ''],
    ['that is a string', '"r"', ''],
    ['that is a number', '1', ''],
    ['with a BOM', `\uFEFF${json}`, ''],
    ['that is not UTF-8', Buffer.from(json, 'utf16le'), ''],
    [
      'with an invalid byte',
      Buffer.concat([Buffer.from('{"requestId":"'), Buffer.from([0xff]), Buffer.from('"}')]),
      '',
    ],
    ['that is deeply nested and unclosed', '['.repeat(50_000), ''],
    ['that is deeply nested', `{"requestId":"r","playerId":${'['.repeat(49_000)}${']'.repeat(49_000)}}`, 'r'],
    ['that is compressed with gzip', Buffer.from([0x1f, 0x8b, 8, 0]), ''],
    ['with a requestId that is not a string', '{"requestId":7,"playerId":"p"}', ''],
  ];
  test.each(bodies)('%s is wrong syntax', async (_name, body, requestId) => {
    expect(await call(service.url, 'balance', body)).toEqual({ ...wrongSyntax, requestId });
  });

  test('with a duplicate key uses the last value', async () => {
    const { playerId } = caller;
    const before = Number((await caller.balance()).balance);
    const fields = JSON.stringify({
      requestId: 'r',
      playerId,
      transactionId: randomUUID(),
      roundId: randomUUID(),
      gameCode: 'dice-alpha',
      amount: '900.00',
    });
    const twice = fields.replace('"amount":"900.00"', '"amount":"900.00","amount":"1.00"');
    const answer = await call(service.url, 'debit', twice);
    expect(answer).toMatchObject({ http: 200, status: 'OK', balance: (before - 1).toFixed(2) });
    expect(await call(service.url, 'debit', twice)).toEqual(answer);
    expect((await call(service.url, 'debit', fields)).status).toBe('ERROR_DUPLICATE_TRANSACTION');
  });

  test.each(['1e400', '-0', '9007199254740993', '1e-400'])(
    'with the number %s instead of text is wrong syntax',
    async (number) => {
      const body = `{"requestId":"r","playerId":"${caller.playerId}","transactionId":"t","roundId":"r","gameCode":"dice-alpha","amount":${number}}`;
      expect(await call(service.url, 'debit', body)).toEqual({ ...wrongSyntax, requestId: 'r' });
    },
  );

  test('of 100,000 bytes is accepted; a larger one is wrong syntax', async () => {
    const bodyOfSize = (bytes: number) => {
      const frame = JSON.stringify({ requestId: 'r', playerId: 'nobody', pad: '' });
      return frame.replace('"pad":""', `"pad":"${'x'.repeat(bytes - frame.length)}"`);
    };
    expect((await call(service.url, 'balance', bodyOfSize(100_000))).status).toBe('ERROR_UNKNOWN');
    expect(await call(service.url, 'balance', bodyOfSize(100_001))).toEqual({
      ...wrongSyntax,
      requestId: '',
    });
    expect(await call(service.url, 'balance', bodyOfSize(5_000_000))).toEqual({
      ...wrongSyntax,
      requestId: '',
    });
  });

  test('that never ends closes only its own connection', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    socket.write('POST /callback/balance HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const timer = setInterval(() => {
      for (let copy = 0; copy < 8 && socket.writable; copy++) socket.write(chunk);
    }, 1);
    await closed;
    clearInterval(timer);
    expect((await caller.balance()).status).toBe('OK');
  });

  test('is accepted with any media type', async () => {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', secret)
      .update(`${timestamp}/callback/balance${json}`)
      .digest('hex');
    const answer = await fetch(`${service.url}/callback/balance`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/html', 'X-Timestamp': timestamp, 'X-HMAC-SHA256': signature },
      body: json,
    });
    expect(await answer.json()).toEqual({ requestId: 'r', status: 'ERROR_UNKNOWN' });
  });

  test('that is incomplete is not processed', async () => {
    const socket = connect(service.port, '127.0.0.1');
    socket.end('POST /callback/balance HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{"requestId"');
    const abortedRequests = () => service.lines.filter((line) => line.includes('client went away'));
    await expect.poll(abortedRequests).toHaveLength(1);
    expect((await caller.balance()).status).toBe('OK');
  });
});

describe('a callback address', () => {
  test('answers another method with 405, another path with 404 and a query with 400, as problem+json', async () => {
    const wrong = await fetch(`${service.url}/callback/debit`);
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    const unknown = await fetch(`${service.url}/callback/nothing`, { method: 'POST' });
    expect([unknown.status, unknown.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    const query = await fetch(`${service.url}/callback/debit?x=1`, { method: 'POST' });
    expect(query.status).toBe(400);
  });
});

test('one failing command does not fail the other commands of its batch', async () => {
  const sql = service.context.database.sql;
  const [poisoned, ...healthy] = await Promise.all(Array.from({ length: 20 }, () => addPlayer(sql)));
  // The next entry of this player already exists, which can't happen normally: so the database fails the whole batch.
  await sql`insert into entries (player_id, seq, operation, transaction_id, amount, balance_after, at, id_space)
    values (${poisoned ?? ''}, 2, 'deposit', ${randomUUID()}, 0, 100000, now(), 'operator')`;
  const [bad, ...good] = await Promise.all(
    [poisoned ?? '', ...healthy].map((playerId) => callerOf(service, playerId).debit()),
  );
  expect(bad).toMatchObject({ http: 500, status: 'ERROR_UNKNOWN' });
  for (const answer of good) expect(answer).toMatchObject({ http: 200, status: 'OK', balance: '990.00' });
  await sql`update players set seq = 2 where player_id = ${poisoned ?? ''}`;
});

import { createHmac, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addGame, addPlayer, callerOf, type Fields } from '../../test/factories.ts';
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

describe('amounts', () => {
  test.each(['0', '0.0', '0.00', '5', '5.0', '5.00', '0.01', '9999999999999.99'])(
    '%s is one',
    async (amount) => {
      expect((await caller.credit({ amount, roundClosed: false })).status).toBe('OK');
    },
  );

  const wrong = [
    '-1',
    '-0',
    '+1',
    '1e3',
    '.5',
    '5.',
    '01.00',
    '00',
    '1.000',
    '1,00',
    ' 1',
    '1 ',
    '1\n',
    '',
    '١',
    '0x1',
  ];
  const odd = [5, 5.5, null, true, {}, [], ['5.00'], '10000000000000', 'NaN', 'Infinity', '1_000', '１'];
  test.each([...wrong, ...odd])('%j is none', async (amount) => {
    expect(await caller.debit({ amount })).toMatchObject(wrongSyntax);
    expect(await caller.credit({ amount })).toMatchObject(wrongSyntax);
  });
});

describe('ids', () => {
  const strange = [
    'a',
    ' ',
    "'; drop table entries; --",
    '${jndi:ldap://x}',
    '<script>alert(1)</script>',
    '../../etc/passwd',
    '%00%0a',
    '{"$gt": ""}',
    '\\u0000',
    'null',
    '__proto__',
    'ünï-漢字-🎲-👩‍👩‍👧',
    '\u202Eabc',
    '\uFEFFbom',
    '\u2028',
    '🎲'.repeat(255),
    'x'.repeat(255),
    'e\u0301',
  ];
  test.each(strange)('%j is an id, kept as it is', async (id) => {
    const playerId = await addPlayer(service.context.database.sql, {}, `p-${randomUUID()}`);
    const own = callerOf(service, playerId);
    const debit = { transactionId: id, roundId: id };
    expect(await own.debit({ ...debit, metadata: id })).toMatchObject({ status: 'OK', balance: '990.00' });
    expect(await own.debit(debit)).toMatchObject({ status: 'OK', balance: '990.00' });
    const [entry] = await service.context.database.sql`
      select transaction_id, round_id from entries where player_id = ${playerId} and seq = 2`;
    expect(entry).toEqual({ transaction_id: id, round_id: id });
  });

  test('é in two spellings are two ids', async () => {
    const [composed, decomposed] = ['\u00e9-two', 'e\u0301-two'];
    expect((await caller.debit({ transactionId: composed })).status).toBe('OK');
    expect((await caller.debit({ transactionId: decomposed })).status).toBe('OK');
  });

  const wrong = ['', 'a\0', '\x1f', '\x7f', '\x85', 'tab\t', 'x'.repeat(256), '🎲'.repeat(256)];
  test.each([...wrong, '\ud800', 'a\udfff', 1, null, true, {}, ['a']])('%j is none', async (id) => {
    expect(await caller.debit({ transactionId: id })).toMatchObject(wrongSyntax);
    expect(await caller.debit({ roundId: id })).toMatchObject(wrongSyntax);
    expect(await caller.credit({ gameId: id })).toMatchObject(wrongSyntax);
    expect(await caller.rollback({ reverseTransactionId: id })).toMatchObject(wrongSyntax);
    expect(await call(service.url, 'balance', { requestId: 'r', playerId: id })).toMatchObject(wrongSyntax);
  });
});

describe('fields', () => {
  const needed: Record<string, string[]> = {
    authenticate: ['requestId', 'playerId', 'currency', 'gameCode'],
    debit: ['requestId', 'playerId', 'transactionId', 'roundId', 'gameCode', 'amount'],
    credit: ['requestId', 'playerId', 'transactionId', 'roundId', 'gameId', 'amount', 'roundClosed'],
    balance: ['requestId', 'playerId'],
    rollback: [
      'requestId',
      'playerId',
      'transactionId',
      'reverseTransactionId',
      'roundId',
      'gameId',
      'roundClosed',
    ],
  };
  const sound: Fields = {
    requestId: 'r',
    playerId: 'nobody',
    currency: 'EUR',
    gameCode: 'dice-alpha',
    gameId: 'dice-alpha',
    transactionId: 't',
    reverseTransactionId: 'v',
    roundId: 'r',
    amount: '1.00',
    roundClosed: true,
  };
  for (const [callback, names] of Object.entries(needed)) {
    test.each(names)(`${callback} needs %s`, async (name) => {
      const { [name]: _left, ...rest } = sound;
      const answer = await call(service.url, callback, rest);
      expect(answer).toEqual({ ...wrongSyntax, requestId: name === 'requestId' ? '' : 'r' });
    });
    test(`${callback} accepts and ignores what it does not know`, async () => {
      const only = Object.fromEntries(names.map((name) => [name, sound[name]]));
      const answer = await call(service.url, callback, {
        ...only,
        extra: { deep: [1] },
        status: 'OK',
        balance: '1',
      });
      expect(answer).toEqual({ http: 200, requestId: 'r', status: 'ERROR_UNKNOWN' });
    });
  }

  test.each(['true', 1, 0, null, undefined])('roundClosed %j is no boolean', async (roundClosed) => {
    expect(await caller.credit({ roundClosed })).toMatchObject(wrongSyntax);
    expect(await caller.rollback({ roundClosed })).toMatchObject(wrongSyntax);
  });

  test('metadata must be a string', async () => {
    expect(await caller.debit({ metadata: { a: 1 } })).toMatchObject(wrongSyntax);
    expect(await caller.debit({ metadata: '{not json' })).toMatchObject({ status: 'OK' });
  });
});

describe('bodies', () => {
  const json = JSON.stringify({ requestId: 'r', playerId: 'nobody' });
  const bodies: [string, string | Buffer, string][] = [
    ['empty', '', ''],
    ['not JSON', '{"requestId": "r"', ''],
    ['an array', `[${json}]`, ''],
    ['null', 'null', ''],
    ['a string', '"r"', ''],
    ['a number', '1', ''],
    ['with a BOM', `\uFEFF${json}`, ''],
    ['not UTF-8', Buffer.from(json, 'utf16le'), ''],
    [
      'with a broken byte',
      Buffer.concat([Buffer.from('{"requestId":"'), Buffer.from([0xff]), Buffer.from('"}')]),
      '',
    ],
    ['deep', '['.repeat(50_000), ''],
    ['deep and closed', `{"requestId":"r","playerId":${'['.repeat(49_000)}${']'.repeat(49_000)}}`, 'r'],
    ['gzip that nobody asked for', Buffer.from([0x1f, 0x8b, 8, 0]), ''],
    ['with a requestId that is no string', '{"requestId":7,"playerId":"p"}', ''],
  ];
  test.each(bodies)('%s: wrong syntax', async (_name, body, requestId) => {
    expect(await call(service.url, 'balance', body)).toEqual({ ...wrongSyntax, requestId });
  });

  test('of 100,000 bytes is read, of one more is wrong syntax, of 5 MB too', async () => {
    const sized = (bytes: number) => {
      const frame = JSON.stringify({ requestId: 'r', playerId: 'nobody', pad: '' });
      return frame.replace('"pad":""', `"pad":"${'x'.repeat(bytes - frame.length)}"`);
    };
    expect((await call(service.url, 'balance', sized(100_000))).status).toBe('ERROR_UNKNOWN');
    expect(await call(service.url, 'balance', sized(100_001))).toEqual({ ...wrongSyntax, requestId: '' });
    expect(await call(service.url, 'balance', sized(5_000_000))).toEqual({ ...wrongSyntax, requestId: '' });
  });

  test('that never ends ends the connection, and nothing else', async () => {
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

  test('whatever media type it says it is', async () => {
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

  test('that breaks off is decided by nobody', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.write('POST /callback/balance HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{"requestId"');
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    expect((await caller.balance()).status).toBe('OK');
  });
});

describe('addresses', () => {
  test('another method is 405, another path 404, a query 400, each as problem+json', async () => {
    const wrong = await fetch(`${service.url}/callback/debit`);
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    const unknown = await fetch(`${service.url}/callback/nothing`, { method: 'POST' });
    expect([unknown.status, unknown.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    const query = await fetch(`${service.url}/callback/debit?x=1`, { method: 'POST' });
    expect(query.status).toBe(400);
  });
});

test('one poisonous item does not fail its neighbours', async () => {
  const sql = service.context.database.sql;
  const [poisoned, ...healthy] = await Promise.all(Array.from({ length: 20 }, () => addPlayer(sql)));
  // Its next entry is there already: what can't happen, so that the database refuses in the middle of the batch.
  await sql`insert into entries (player_id, seq, operation, transaction_id, amount, balance_after, at)
    values (${poisoned ?? ''}, 2, 'deposit', ${randomUUID()}, 0, 100000, now())`;
  const [bad, ...good] = await Promise.all(
    [poisoned ?? '', ...healthy].map((playerId) => callerOf(service, playerId).debit()),
  );
  expect(bad).toMatchObject({ http: 500, status: 'ERROR_UNKNOWN' });
  for (const answer of good) expect(answer).toMatchObject({ http: 200, status: 'OK', balance: '990.00' });
  await sql`update players set seq = 2 where player_id = ${poisoned ?? ''}`;
});

import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { addGame, addPlayer } from '../../test/factories.ts';
import { startService, secret, type Running } from '../../test/harness.ts';
import { expectSoundLedger } from '../../test/proof.ts';

const body = JSON.stringify({ requestId: 'r-1', playerId: 'nobody' });
const path = '/callback/balance';
const seconds = (shift = 0) => String(Math.floor(Date.now() / 1000) + shift);
const sign = (text: string, key = secret) => createHmac('sha256', key).update(text).digest('hex');

/** Headers as a list, so that one may come twice; fetch would join them. */
const send = (url: string, headers: [string, string][], content = body) =>
  new Promise<{ http: number; answer: unknown }>((resolve, reject) => {
    const sent = request(url + path, { method: 'POST' }, (res) => {
      let text = '';
      res.on('data', (chunk) => (text += String(chunk)));
      res.on('end', () => resolve({ http: res.statusCode ?? 0, answer: JSON.parse(text) as unknown }));
    });
    for (const name of new Set(headers.map(([header]) => header))) {
      sent.setHeader(
        name,
        headers.filter(([header]) => header === name).map(([, value]) => value),
      );
    }
    sent.on('error', reject);
    sent.end(content);
  });

const good = (timestamp = seconds()): [string, string][] => [
  ['X-Timestamp', timestamp],
  ['X-HMAC-SHA256', sign(timestamp + path + body)],
];
const accepted = { http: 200, answer: { requestId: 'r-1', status: 'ERROR_UNKNOWN' } };
const refused = { http: 401, answer: { requestId: 'r-1', status: 'ERROR_INVALID_SIGNATURE' } };

test('every 401 names its way to authenticate: the signature for callbacks, Bearer for the rest', async () => {
  await using service = await startService();
  const callback = await fetch(service.url + path, { method: 'POST', body });
  expect([callback.status, callback.headers.get('www-authenticate')]).toEqual([
    401,
    'HMAC-SHA256 realm="callbacks"',
  ]);
  const api = await fetch(`${service.url}/v1/games`);
  expect([api.status, api.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Bearer/)]);
});

test('refuses every signature but the right one, tells nothing, and logs why', async () => {
  await using service = await startService();
  const { url } = service;
  const now = seconds();
  const right = sign(now + path + body);
  expect(await send(url, good())).toEqual(accepted);
  const wrong: [string, [string, string][]][] = [
    ['missing', []],
    ['missing', [['X-Timestamp', now]]],
    ['missing', [['X-HMAC-SHA256', right]]],
    ['malformed', [...good(), ['X-HMAC-SHA256', right]]],
    ['malformed', [...good(), ['X-Timestamp', now]]],
    [
      'malformed',
      [
        ['X-Timestamp', now],
        ['X-HMAC-SHA256', right.toUpperCase()],
      ],
    ],
    [
      'malformed',
      [
        ['X-Timestamp', now],
        ['X-HMAC-SHA256', 'zz'.repeat(32)],
      ],
    ],
    [
      'malformed',
      [
        ['X-Timestamp', now],
        ['X-HMAC-SHA256', right.slice(1)],
      ],
    ],
    [
      'malformed',
      [
        ['X-Timestamp', 'soon'],
        ['X-HMAC-SHA256', right],
      ],
    ],
    [
      'malformed',
      [
        ['X-Timestamp', `${now}.5`],
        ['X-HMAC-SHA256', right],
      ],
    ],
    [
      'secret',
      [
        ['X-Timestamp', now],
        ['X-HMAC-SHA256', sign(now + path + body, 'another')],
      ],
    ],
    [
      'path',
      [
        ['X-Timestamp', now],
        ['X-HMAC-SHA256', sign(now + body)],
      ],
    ],
    [
      'body',
      [
        ['X-Timestamp', now],
        ['X-HMAC-SHA256', sign(`${now}${path}${body.replaceAll(/[:,]/g, '$& ')}`)],
      ],
    ],
    ['clock', good(seconds(-35))],
    ['clock', good(seconds(35))],
  ];
  // Ten refusals of a minute are logged.
  await using second = await startService();
  for (const [at, [why, headers]] of wrong.entries()) {
    const { lines, url: address } = at < 10 ? service : second;
    lines.length = 0;
    expect(await send(address, headers), why).toEqual(refused);
    expect(lines.join('')).toContain(`"why":"${why}"`);
  }
  for (const shift of [-25, 25]) expect(await send(url, good(seconds(shift)))).toEqual(accepted);
});

test('is checked before the body is looked at; requestId is empty when the body says none', async () => {
  await using service = await startService();
  const bad: [string, string][] = [
    ['X-Timestamp', seconds()],
    ['X-HMAC-SHA256', 'ab'.repeat(32)],
  ];
  for (const content of ['not json', '', '[]', '{"requestId":1}'])
    expect(await send(service.url, bad, content)).toEqual({
      http: 401,
      answer: { requestId: '', status: 'ERROR_INVALID_SIGNATURE' },
    });
});

test('refusing a large body does not parse it: its requestId is echoed when it comes first', async () => {
  await using service = await startService();
  const fill = `"metadata":${'['.repeat(45_000)}${']'.repeat(45_000)}`;
  const requestId = '"requestId": "r-1"';
  for (const [content, echoed] of [
    [`{ ${requestId}, ${fill}}`, 'r-1'],
    [`{${fill},${requestId}}`, ''],
    [`{"metadata":{${requestId},${fill}}}`, ''],
  ] as const)
    expect(await send(service.url, [], content)).toEqual({
      http: 401,
      answer: { requestId: echoed, status: 'ERROR_INVALID_SIGNATURE' },
    });
});

const check = async (service: Running, text: (timestamp: string) => string, key?: string) => {
  const now = seconds();
  const { http } = await send(service.url, [
    ['X-Timestamp', now],
    ['X-HMAC-SHA256', sign(text(now), key)],
  ]);
  return http;
};

test('two secrets are good at once, for as long as both are set', async () => {
  const [newSecret, oldSecret] = ['the new secret of tests', 'the old secret of tests'];
  await using service = await startService({
    variables: { HMAC_SECRET: newSecret, HMAC_SECRET_PREVIOUS: oldSecret },
  });
  const text = (now: string) => now + path + body;
  expect(await check(service, text, newSecret)).toBe(200);
  expect(await check(service, text, oldSecret)).toBe(200);
  expect(await check(service, text, 'the one before the old one')).toBe(401);
});

test('the signed string can be that of a gateway that strips a prefix, or of older game servers', async () => {
  await using prefixed = await startService({ variables: { SIGNATURE_PATH_PREFIX: '/wallet' } });
  expect(await check(prefixed, (now) => `${now}/wallet${path}${body}`)).toBe(200);
  expect(await check(prefixed, (now) => now + path + body)).toBe(401);
  await using older = await startService({ variables: { SIGNATURE_STRING: 'timestamp+body' } });
  expect(await check(older, (now) => now + body)).toBe(200);
  expect(await check(older, (now) => now + path + body)).toBe(401);
});

test('the very same request again repeats the answer; its signature is good for nothing else', async () => {
  await using service = await startService();
  const { sql } = service.context.database;
  await addGame(sql);
  const playerId = await addPlayer(sql);
  const fields = { requestId: 'r', playerId, transactionId: 't', roundId: 'r', gameCode: 'dice-alpha' };
  const content = JSON.stringify({ ...fields, amount: '10.00' });
  const now = seconds();
  const headers = { 'X-Timestamp': now, 'X-HMAC-SHA256': sign(`${now}/callback/debit${content}`) };
  const post = async (target: string, text: string, more = {}) => {
    const sent = { method: 'POST', headers: { ...headers, ...more }, body: text };
    const answer = await fetch(service.url + target, sent);
    return { http: answer.status, ...((await answer.json()) as object) };
  };
  const first = await post('/callback/debit', content);
  expect(first).toEqual({ http: 200, requestId: 'r', status: 'OK', balance: '990.00' });
  expect(await post('/callback/debit', content)).toEqual(first);
  const stolen = { http: 401, requestId: 'r', status: 'ERROR_INVALID_SIGNATURE' };
  expect(await post('/callback/credit', content)).toEqual(stolen);
  expect(await post('/callback/debit', content.replace('10.00', '11.00'))).toEqual(stolen);
  expect(await post('/callback/debit', `${content} `)).toEqual(stolen);
  expect(await post('/callback/debit', content, { 'X-Timestamp': String(Number(now) + 1) })).toEqual(stolen);
  await expectSoundLedger(service);
});

test('a client that signs wrongly again and again has a bounded number of lines, and they are counted', async () => {
  const service = await startService();
  for (let sent = 0; sent < 100; sent++) expect(await send(service.url, [])).toEqual(refused);
  await service[Symbol.asyncDispose]();
  const lines = service.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter(({ msg }) => msg !== 'repeated refusals')).toHaveLength(20);
  expect(lines.filter(({ msg }) => msg === 'repeated refusals')).toMatchObject([
    { reason: 'signature refused', network: '127.0.0.1', count: 90 },
    { reason: '401 /callback/balance', network: '127.0.0.1', count: 90 },
  ]);
});

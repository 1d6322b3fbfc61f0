import request from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type Service } from './harness.ts';
import { consignmentInput } from './inputs.ts';
import { listening, type ResultLine } from './stream.ts';

let service: Service;
let connection: Awaited<ReturnType<typeof listening>>;
beforeAll(async () => {
  service = await startService();
  connection = await listening(service);
});
beforeEach(() => service.context.database.sql`delete from consignments`);
afterAll(async () => {
  await connection[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const post = (body: string | Buffer, type = 'application/x-ndjson', authorization = service.writing) =>
  request(service.app)
    .post('/v1/consignments/import')
    .set('Authorization', authorization)
    .set('Content-Type', type)
    .serialize((value: unknown) => value as string)
    .buffer(true)
    .parse((res, done) => {
      let text = '';
      res.on('data', (chunk) => (text += String(chunk)));
      res.on('end', () => done(null, text));
    })
    .send(body as string);

const resultsOf = (text: unknown): ResultLine[] =>
  String(text)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ResultLine);

const line = (changes: object = {}) => JSON.stringify(consignmentInput(changes));
const stored = async () => Number((await service.read('/consignments')).body.total);

describe('an import', () => {
  test('stores valid lines, reports invalid ones by number, and skips blank ones', async () => {
    const answer = await post(
      `${line({ reference: 'first' })}\r\n\n  \nnonsense\n${line({ status: 9 })}\n${line()}`,
    );
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    const results = resultsOf(answer.body);
    expect(results).toEqual([
      { line: 1, id: expect.any(String) as string },
      { line: 4, error: 'malformed_json', detail: expect.any(String) as string },
      {
        line: 5,
        error: 'validation_failed',
        detail: expect.stringContaining('status: ') as string,
        errors: { status: [expect.any(String) as string] },
      },
      { line: 6, id: expect.any(String) as string },
    ]);
    const { body } = await service.read('/consignments');
    // Newest first: the last line is the newest.
    expect(body).toMatchObject({ total: 2, consignments: [{ id: results[3]?.id }, { reference: 'first' }] });
    const first = await service.get(`/consignments/${results[0]?.id}`).expect(200);
    expect(first.body).toMatchObject(consignmentInput({ status: 0, ediStatus: 0, carrierId: null }));
  });

  test.each([
    ['an unknown field', line({ colour: 'red' }), 'validation_failed', 'colour'],
    ['an id', line({ id: '0198c5a0-7e57-7000-8000-000000000001' }), 'validation_failed', 'id'],
    ['__proto__', line().replace('{', '{"__proto__":{},'), 'validation_failed', '__proto__'],
    ['an array', '[]', 'validation_failed', 'line'],
    ['null', 'null', 'validation_failed', 'line'],
    ['NUL', line({ clientName: 'a\0' }), 'validation_failed', 'clientName'],
    ['a lone surrogate', line().replace('Van', '\\ud800'), 'validation_failed', 'clientName'],
    ['a byte order mark', `\ufeff${line()}`, 'malformed_json', undefined],
    ['half an object', line().slice(0, 20), 'malformed_json', undefined],
    ['8,000 brackets', '['.repeat(8000), 'malformed_json', undefined],
    ['a line of 16,385 bytes', line().padEnd(16_385), 'line_too_long', undefined],
    ['bytes that are not UTF-8', Buffer.from('{"a":"\xff"}', 'latin1'), 'malformed_json', undefined],
  ])('refuses %s in a line and stores the next', async (_name, bad, error, field) => {
    const body = Buffer.concat([Buffer.from(bad), Buffer.from(`\n${line()}\n`)]);
    const [refused, next] = resultsOf((await post(body)).body);
    expect(refused).toMatchObject({ line: 1, error });
    expect(Object.keys(refused?.errors ?? {})).toEqual(field === undefined ? [] : [field]);
    expect(next).toEqual({ line: 2, id: expect.any(String) as string });
    expect(await stored()).toBe(1);
  });

  test('stores less than a kilobyte of a line with dozens of unknown fields, and names ten of them', async () => {
    const unknown = Array.from({ length: 80 }, (_, field) => [`${field}`.padEnd(60, '界'), 1]);
    const { body, headers } = await post(line(Object.fromEntries(unknown)));
    const [refused] = resultsOf(body);
    expect(Object.keys(refused?.errors ?? {})).toHaveLength(10);
    expect(refused?.detail).toMatch(/^0界{13}: unknown field; /);
    const [row] = await service.context.database.sql<{ bytes: number }[]>`
      select octet_length(results::text) as bytes from import_results where import_id = ${String(headers['import-id'])}`;
    expect(row?.bytes).toBeLessThan(1000);
  });

  test('of an empty body has no results', async () => {
    const answer = await post('');
    expect([answer.status, answer.body]).toEqual([200, '']);
  });

  test('accepts a line of 16,384 bytes', async () => {
    expect(resultsOf((await post(line().padEnd(16_384))).body)).toEqual([
      { line: 1, id: expect.any(String) as string },
    ]);
  });

  test('starts its response when the body has been received, because nginx would stop sending the body', async () => {
    const patient = { ...service.context.importLimits, quietMs: 60_000 };
    await using slow = await startService({ overrides: { importLimits: patient } });
    await using place = await listening(slow);
    const run = place.begin();
    let ended = false;
    const began = run.answered.then(() => ended);
    const lines = Array.from({ length: 2500 }, () => consignmentInput());
    const total = async () => Number((await slow.read('/consignments')).body.total);
    for (const stored of [2500, 5000, 7500]) {
      run.send(...lines);
      await expect.poll(total).toBe(stored);
    }
    ended = true;
    run.req.end();
    expect(await began).toBe(true);
    expect(await run.rest()).toHaveLength(7500);
  });

  test('sends results to a client that waits for one before it sends more', async () => {
    const run = connection.begin();
    for (let n = 1; n <= 3; n++) {
      run.send(consignmentInput({ reference: `${n}` }));
      expect(await run.next()).toEqual({ line: n, id: expect.any(String) as string });
    }
    run.req.end();
    expect(await run.next()).toBeUndefined();
    expect(await stored()).toBe(3);
  });

  test('keeps the order of many lines', async () => {
    const lines = Array.from({ length: 5000 }, (_, n) =>
      line(n % 1000 === 7 ? { status: 99 } : { reference: `${n}` }),
    );
    const results = resultsOf((await post(lines.join('\n'))).body);
    expect(results.map((result) => result.line)).toEqual(lines.map((_, n) => n + 1));
    expect(results.filter(({ error }) => error).map((result) => result.line)).toEqual([
      8, 1008, 2008, 3008, 4008,
    ]);
    expect(await stored()).toBe(4995);
    const ids = results.flatMap(({ id }) => id ?? []);
    expect(ids).toEqual(ids.toSorted());
  });
});

describe('the request of an import', () => {
  test('needs the scope to write', async () => {
    const reading = `Bearer ${await service.tokens.token({ scope: 'consignments:read' })}`;
    const refused = await post(line(), 'application/x-ndjson', reading);
    expect([refused.status, JSON.parse(String(refused.body))]).toMatchObject([
      403,
      { code: 'insufficient_scope' },
    ]);
    expect((await post(line(), 'application/x-ndjson', 'Bearer x')).status).toBe(401);
    expect(await stored()).toBe(0);
  });

  test('needs the media type application/x-ndjson', async () => {
    for (const type of ['application/json', 'text/plain', 'application/x-ndjson-seq']) {
      const refused = await post(line(), type);
      expect([refused.status, JSON.parse(String(refused.body))]).toMatchObject([
        415,
        { code: 'unsupported_media_type' },
      ]);
    }
    const packed = connection.begin({ 'Content-Encoding': 'gzip' });
    packed.req.end('x');
    expect((await packed.answered).statusCode).toBe(415);
    await service.get('/consignments/import').expect(405).expect('Allow', 'POST');
  });
});

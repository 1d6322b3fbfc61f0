import { randomUUID } from 'node:crypto';
import supertest from 'supertest';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendRaw, startFixture } from './harness.ts';

let fixture: Awaited<ReturnType<typeof startFixture>>;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const post = (body: string, type = 'application/json') =>
  supertest(fixture.app).post('/v1/notes').set('Content-Type', type).send(body);

const expectProblem = (answer: supertest.Response, status: number, code: string): void => {
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(answer.body).toMatchObject({
    type: 'about:blank',
    status,
    code,
    requestId: answer.headers['x-request-id'],
  });
  expect(answer.status).toBe(status);
};

test.each([
  ['an array', '[]', 'validation_failed'],
  ['null', 'null', 'validation_failed'],
  ['a string', '"a"', 'validation_failed'],
  ['half an object', '{"id":', 'malformed_json'],
  ['nothing', '', 'validation_failed'],
  ['a byte order mark and an object', '\ufeff{}', 'malformed_json'],
  [
    'more than 4,000 values',
    `{${Array.from({ length: 4002 }, (_, at) => `"k${at}":1`).join(',')}}`,
    'too_many_values',
  ],
  ['15,000 levels', `{"id":${'['.repeat(15_000)}${']'.repeat(15_000)}}`, 'too_deep'],
  ['__proto__', '{"id":"a","words":"b","__proto__":{"x":1}}', 'validation_failed'],
  ['an unknown field', '{"id":"a","words":"b","owner":"me"}', 'validation_failed'],
  ['NUL', '{"id":"a","words":"b\\u0000"}', 'validation_failed'],
  ['a lone surrogate', '{"id":"a","words":"\\ud800"}', 'validation_failed'],
])('a body that is %s is refused with 400', async (_name, body, code) => {
  expectProblem(await post(body), 400, code);
});

test('an unknown field is rejected with its name', async () => {
  const answer = await post('{"id":"a","words":"b","owner":"me"}');
  expect(answer.body).toMatchObject({
    errors: { owner: ['unknown field'] },
    detail: 'owner: unknown field',
  });
});

test('bytes that are not UTF-8 are refused', async () => {
  const answer = await supertest(fixture.app)
    .post('/v1/notes')
    .set('Content-Type', 'application/json')
    .serialize((value: unknown) => value as string)
    .send(Buffer.from([0x22, 0xff, 0x22]) as unknown as string);
  expectProblem(answer, 400, 'malformed_json');
});

test('brackets inside strings do not count as depth', async () => {
  const answer = await post(JSON.stringify({ id: 'deep', words: '[{\\"'.repeat(40) }));
  expect(answer.status).toBe(201);
});

test('another content type is 415', async () => {
  expectProblem(await post('<note/>', 'text/xml'), 415, 'unsupported_media_type');
});

test.each([
  'application/json; charset="utf-8"',
  'application/json;charset=UTF-8',
  'application/json; charset=utf8',
])('%s is read', async (type) => {
  expect((await post(JSON.stringify({ id: randomUUID().slice(0, 8), words: 'b' }), type)).status).toBe(201);
});

test('another charset is 415', async () => {
  expectProblem(await post('{}', 'application/json; charset=latin1'), 415, 'unsupported_media_type');
});

test('a compressed body is 415', async () => {
  const answer = await supertest(fixture.app)
    .post('/v1/notes')
    .set('Content-Type', 'application/json')
    .set('Content-Encoding', 'gzip')
    .send('{}');
  expectProblem(answer, 415, 'unsupported_encoding');
});

test('a body over the limit is 413', async () => {
  expectProblem(await post(JSON.stringify({ id: 'a', words: 'x'.repeat(60_000) })), 413, 'too_large');
});

test('an unknown path is 404', async () => {
  expectProblem(await supertest(fixture.app).get('/v1/nothing'), 404, 'not_found');
});

test('a path with an additional slash is another path', async () => {
  expectProblem(await supertest(fixture.app).get('/v1/notes/a/'), 404, 'not_found');
});

test('another method is 405 with Allow', async () => {
  const answer = await supertest(fixture.app).delete('/v1/notes/a');
  expectProblem(answer, 405, 'method_not_allowed');
  expect(answer.headers['allow']).toBe('GET, HEAD');
});

test.each(['/livez', '/readyz', '/metrics', '/openapi.json', '/ops/status'])(
  'another method for %s is 405 with Allow',
  async (path) => {
    const answer = await supertest(fixture.app).post(path).send({});
    expectProblem(answer, 405, 'method_not_allowed');
    expect(answer.headers['allow']).toBe('GET, HEAD');
    expect((await supertest(fixture.app).head(path)).status).toBe(200);
  },
);

test('OPTIONS returns Allow and no CORS headers', async () => {
  const answer = await supertest(fixture.app).options('/v1/notes').set('Origin', 'https://other.example');
  expect([answer.status, answer.headers['allow']]).toEqual([204, 'POST']);
  expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
});

test.each([
  ['the path', '/v1/notes/%zz', 'bad_request'],
  ['the path, as UTF-8', '/v1/notes/%ff', 'bad_request'],
  ['the query', '/v1/notes/a?loud=%zz', 'bad_encoding'],
  ['the query, a lone surrogate', '/v1/notes/a?loud=%ED%A0%80', 'bad_encoding'],
])('bad percent-encoding in %s is 400', async (_where, path, code) => {
  expectProblem(await supertest(fixture.app).get(path), 400, code);
});

test('a repeated parameter is rejected with its name, in any case', async () => {
  const answer = await supertest(fixture.app).get('/v1/notes/a?loud=true&LOUD=true');
  expectProblem(answer, 400, 'validation_failed');
  expect(answer.body).toMatchObject({ errors: { Loud: ['may be given only once'] } });
});

test('an unexpected failure is a 500 without details, logged with its request id and location, without its message', async () => {
  const answer = await supertest(fixture.app).get('/v1/broken').set('X-Request-Id', 'find-me');
  expectProblem(answer, 500, 'internal_error');
  expect(answer.text).not.toMatch(/hunter2|select|at /);
  const logged = fixture.lines.filter((line) => line.includes('find-me')).join('');
  expect(logged).toContain('fixture/service.ts');
  expect(logged).not.toContain('hunter2');
});

test('a well-formed request id is used, otherwise one is generated', async () => {
  const good = await supertest(fixture.app).get('/livez').set('X-Request-Id', 'A.b_c-1');
  expect(good.headers['x-request-id']).toBe('A.b_c-1');
  for (const odd of ['', 'a b', 'ä', 'x'.repeat(129), '<script>']) {
    const answer = await supertest(fixture.app)
      .get('/livez')
      .set('X-Request-Id', Buffer.from(odd).toString('latin1'));
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test('an undeclared field is left out of the response', async () => {
  await post('{"id":"plain","words":"b"}');
  const answer = await supertest(fixture.app).get('/v1/notes/plain?LOUD=true');
  expect(answer.body).toEqual({ id: 'plain', words: 'B' });
});

const expectRaw = (answer: string, status: number): void => {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toContain(`HTTP/1.1 ${status} `);
  expect(head).toContain('application/problem+json');
  expect(JSON.parse(body)).toMatchObject({ status, requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
};

test.each([
  [
    'a target over 8,192 bytes',
    `GET /${'a'.repeat(8192)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    414,
  ],
  ['an endless target', `GET /${'a'.repeat(20_000)}`, 414],
  ['headers above 16 kB', `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ['garbage', 'hello\r\n\r\n', 400],
  [
    'two lengths',
    'POST /v1/notes HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    400,
  ],
  [
    'a length and chunks',
    'POST /v1/notes HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['no Host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['a Host that is not a host name', 'GET /livez HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400],
  ['a Host with user info', 'GET /livez HTTP/1.1\r\nHost: a@b\r\nConnection: close\r\n\r\n', 400],
  ['an empty Host', 'GET /livez HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n', 400],
  ['two Hosts', 'GET /livez HTTP/1.1\r\nHost: a\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
  ['an unknown Expect', 'GET /livez HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n', 417],
])('%s gets a problem on the wire', async (_name, bytes, status) => {
  expectRaw(await sendRaw(fixture.port, bytes), status);
});

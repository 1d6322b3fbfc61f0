import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { createHttpApp } from '../src/http/app.ts';
import { anyone, route, type Route } from '../src/http/route.ts';
import { captureLog, serve } from '../src/testing/index.ts';
import { startFixture } from './harness.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

const shared = { method: 'get', tag: 'Notes', summary: 'Notes', auth: anyone } as const;
const params = z.strictObject({ id: z.string().regex(/^[\w ]{1,8}$/) });
const query = z.strictObject({ Take: z.coerce.number().max(9).default(3) });

/** The handlers of the requests; Express is recognised by the `app` that it adds to a request. */
const handledBy: string[] = [];

const routes: Route[] = [
  route(
    {
      fast: true,
      ...shared,
      path: '/notes/{id}',
      operationId: 'note',
      params,
      query,
      anyCaseQuery: true,
      responses: { 200: { description: 'A note', body: z.object({ id: z.string(), Take: z.number() }) } },
    },
    ({ params: { id }, query: { Take }, req }) => {
      handledBy.push('app' in req ? 'express' : 'fast path');
      return { status: 200, headers: { ETag: '"1"' }, body: { id, Take, more: 'undeclared' } };
    },
  ),
  route(
    {
      ...shared,
      fast: true,
      path: '/broken',
      operationId: 'broken',
      responses: { 200: { description: 'Never' } },
    },
    () => {
      throw new Error('password=hunter2');
    },
  ),
];

const about = { title: 'Notes', version: '1.0.0', description: 'Notes.', tags: {}, basePath: '/v1' };

const start = async (list: readonly Route[]) => {
  const { context } = stack.use(await startFixture());
  const { log, lines } = captureLog();
  const { listener } = createHttpApp({ ...context, log }, { api: about, routes: list });
  const { url } = stack.use(await serve(listener));
  return { port: Number(new URL(url).port), lines, metrics: context.metrics };
};

type Started = Awaited<ReturnType<typeof start>>;
let fast: Started;
let express: Started;
beforeAll(async () => {
  fast = await start(routes);
  express = await start(routes.map((route) => ({ ...route, fast: undefined })));
});

const variableParts = /^(?:X-Request-Id|Date): .*\r\n|"requestId":"[^"]*"/gim;

/** Sends a raw request. Returns the response without the parts that differ each time. */
const sendRequest = async ({ port }: Started, head: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1');
  socket.end(`${head}\r\nConnection: close\r\n\r\n`);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer.replaceAll(variableParts, '');
};

const host = 'HTTP/1.1\r\nHost: notes';

test.each([
  ['a read', 'GET /v1/notes/a', 'fast path'],
  ['a query', 'GET /v1/notes/a?take=5', 'fast path'],
  ['an empty query', 'GET /v1/notes/a?', 'fast path'],
  ['an empty body', 'GET /v1/notes/a', 'fast path', '\r\nContent-Length: 0'],
  ['HEAD', 'HEAD /v1/notes/a', 'express'],
  ['an escape', 'GET /v1/notes/a%20b', 'express'],
  ['an absolute URL', 'GET http://notes/v1/notes/a', 'express'],
  ['a refused parameter', 'GET /v1/notes/a?Take=10', 'nobody'],
  ['a parameter twice', 'GET /v1/notes/a?Take=1&take=2', 'nobody'],
  ['an unknown parameter', 'GET /v1/notes/a?__proto__=1', 'nobody'],
  ['a bad escape in a query', 'GET /v1/notes/a?Take=%', 'nobody'],
  ['a bad escape in a path', 'GET /v1/notes/%ff', 'nobody'],
  ['a refused path parameter', 'GET /v1/notes/a.b', 'nobody'],
  ['an empty path parameter', 'GET /v1/notes/', 'nobody'],
  ['an additional segment', 'GET /v1/notes/a/b', 'nobody'],
  ['an additional slash', 'GET /v1/notes/a/', 'nobody'],
  ['another case', 'GET /V1/notes/a', 'nobody'],
  ['another method', 'DELETE /v1/notes/a', 'nobody'],
  ['OPTIONS', 'OPTIONS /v1/notes/a', 'nobody'],
  ['a target that is too long', `GET /v1/notes/a?${'b'.repeat(8200)}`, 'nobody'],
  ['a failure', 'GET /v1/broken', 'nobody'],
])('%s gets the same response as from Express', async (_name, line, handler, more = '') => {
  handledBy.length = 0;
  const answer = await sendRequest(fast, `${line} ${host}${more}`);
  expect(handledBy).toEqual(handler === 'nobody' ? [] : [handler]);
  expect(answer).toMatch(/^HTTP\/1\.1 \d{3} /);
  expect(answer).not.toMatch(/hunter2|undeclared/);
  expect(answer).toBe(await sendRequest(express, `${line} ${host}${more}`));
});

test('a request without Host is refused the same way', async () => {
  const line = 'GET /v1/notes/a HTTP/1.1';
  expect(await sendRequest(fast, line)).toBe(await sendRequest(express, line));
});

test('a request on the fast path is logged, and counted by its route template', async () => {
  fast.lines.length = 0;
  await sendRequest(fast, `GET /v1/notes/b?Take=1 ${host}\r\nX-Request-Id: mine`);
  await sendRequest(fast, `GET /v1/broken ${host}`);
  await expect.poll(() => fast.lines.length).toBe(3);
  const lines = fast.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines[0]).toMatchObject({
    requestId: 'mine',
    method: 'GET',
    route: '/v1/notes/{id}',
    path: '/v1/notes/b',
    status: 200,
    msg: 'answered',
  });
  expect(lines.slice(1).map(({ level, msg }) => [level, msg])).toEqual([
    ['error', 'internal_error'],
    ['error', 'failed'],
  ]);
  expect(await fast.metrics.registry.metrics()).toMatch(
    /http_request_duration_seconds_count\{method="GET",route="\/v1\/notes\/\{id\}",status="200"\} \d/,
  );
});

test.each(['/v1/notes/b?Take=1', '/v1/notes/b?Take=10', '/v1/broken'])(
  'the log line of %s is the same as that of Express',
  async (target) => {
    const lineOf = async (started: Started) => {
      started.lines.length = 0;
      await sendRequest(started, `GET ${target} ${host}\r\nX-Request-Id: mine`);
      const ended = () => started.lines.map((line) => JSON.parse(line)).find(({ ms }) => ms !== undefined);
      await expect.poll(ended).toBeDefined();
      return { ...ended(), time: expect.any(String), ms: expect.any(Number) };
    };
    const line = await lineOf(fast);
    expect(line).toEqual(await lineOf(express));
    expect(line).toMatchObject({
      requestId: 'mine',
      service: 'test',
      method: 'GET',
      status: expect.any(Number),
    });
  },
);

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { exercise } from '../src/exercise.ts';

const problem = { 'application/problem+json': { schema: { type: 'object', required: ['code'] } } };
const operation = {
  operationId: 'getNote',
  parameters: [{ name: 'loud', in: 'query', required: false, schema: { type: 'boolean' } }],
  security: [{ bearer: [] }],
  responses: {
    200: {
      headers: { 'X-Count': { schema: { type: 'string', pattern: '^[0-9]+$' } } },
      content: {
        'application/json': {
          schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        },
      },
    },
    201: { headers: { Location: { schema: { type: 'string' } } } },
    400: { content: problem },
    401: { headers: { 'WWW-Authenticate': { schema: { type: 'string' } } }, content: problem },
  },
};
const requestBody = { content: { 'application/json': { schema: { type: 'object' } } } };
const document = {
  servers: [{ url: '/v1' }],
  paths: {
    '/note': { get: operation },
    '/notes': {
      post: { ...operation, operationId: 'addNote', parameters: [], requestBody },
    },
  },
  components: { schemas: {}, securitySchemes: { bearer: { type: 'http' } } },
};

const write = (res: ServerResponse, status: number, body: unknown, type = 'application/json') =>
  res.writeHead(status, { 'Content-Type': type }).end(JSON.stringify(body));
const refuse = (res: ServerResponse, status: number) => {
  if (status === 401) res.setHeader('WWW-Authenticate', 'Bearer');
  write(res, status, { code: 'refused' }, 'application/problem+json');
};

type Serve = (res: ServerResponse, query: string, authorization: string | undefined) => void;

/** Tests a small service that answers with `serve`; with `readsBodyFirst` it reads bodies before it refuses callers. */
const faultsOf = async (serve: Serve, { readsBodyFirst = false } = {}): Promise<string[]> => {
  const server = createServer((req, res) => {
    const { pathname, search } = new URL(req.url ?? '', 'http://localhost');
    if (pathname === '/openapi.json') write(res, 200, document);
    else if (readsBodyFirst && req.headers['content-length'] === '64')
      req.once('end', () => refuse(res, 401)).resume();
    else serve(res, search, req.headers.authorization);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const subject = {
    url: `http://127.0.0.1:${port}`,
    credentials: { bearer: 'good' },
    takesAnything: ['addNote'],
  };
  return exercise({ ...subject, ...(readsBodyFirst && { refusalLimitMs: 100 }) });
};

const valid: Serve = (res, query, authorization) => {
  if (authorization !== 'Bearer good') refuse(res, 401);
  else if (/^(\?loud=(true|false))?$/.test(query)) write(res, 200, { text: 'hello' });
  else refuse(res, 400);
};

/** The valid service with another response to authenticated requests. */
const answering =
  (answer: (res: ServerResponse) => void): Serve =>
  (res, query, authorization) =>
    query === '' && authorization === 'Bearer good' ? answer(res) : valid(res, query, authorization);

test('a service that matches its document has no faults', async () => {
  expect(await faultsOf(valid)).toEqual([]);
});

test.each<[string, Serve, string]>([
  ['a 5xx', answering((res) => refuse(res, 503)), 'a 503 is a fault'],
  ['an undocumented status', answering((res) => refuse(res, 409)), 'the document has no 409 here'],
  ['another media type', answering((res) => write(res, 200, {}, 'text/html')), 'has no text/html for 200'],
  ['another shape', answering((res) => write(res, 200, { text: 1 })), '/text must be string'],
  [
    'a 401 without WWW-Authenticate',
    (res, query, who) =>
      who === 'Bearer good'
        ? valid(res, query, who)
        : write(res, 401, { code: 'x' }, 'application/problem+json'),
    'a 401 has no WWW-Authenticate header',
  ],
  [
    'a header that the document lacks',
    answering((res) => write(res.setHeader('X-Secret', '1'), 200, { text: 'hello' })),
    'the 200 has the header x-secret, which the document lacks',
  ],
  [
    'a header that does not match its schema',
    answering((res) => write(res.setHeader('X-Count', 'many'), 200, { text: 'hello' })),
    'the 200 has a header that does not match its schema: x-count: many',
  ],
  [
    'a request that is accepted although the document rejects it',
    (res, query, who) => valid(res, query.startsWith('?loud=') ? '' : query, who),
    'the document rejects an accepted request: the parameters: /loud',
  ],
  ['a 201 without Location', answering((res) => res.writeHead(201).end()), 'a 201 has no Location header'],
  [
    'a Location that does not answer GET',
    answering((res) => res.writeHead(201, { Location: '/v1/gone?loud=what' }).end()),
    'GET /v1/gone?loud=what, the Location of a 201, answered 400',
  ],
  [
    'missing authentication',
    (res, query) => valid(res, query, 'Bearer good'),
    'a caller (credentials: none) must get 401',
  ],
  [
    'a documented status that is never returned',
    (res, _, who) => valid(res, '', who),
    'getNote never answered 400',
  ],
])('%s is reported', async (_, serve, fault) => {
  expect((await faultsOf(serve)).join('\n')).toContain(fault);
});

test('an operation that waits for the body of a caller without credentials is reported', async () => {
  expect(await faultsOf(valid, { readsBodyFirst: true })).toEqual([
    'addNote must answer 401 before it reads a body, not wait for it',
  ]);
});
